/* quick_exit() with damage that only the last look finds, and a handler of the program's own. */
#include "make_buffer.h"

static void say(void)
{
	fputs("my handler\n", stderr);
}

int main(void)
{
	tk_start();
	REQUIRE(!at_quick_exit(say));
	tk_flip(make_buffer(1000), 1000, 1);
	tk_sync();
	quick_exit(12);
}
