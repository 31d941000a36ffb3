/* The slack behind a buffer is overrun, and the buffer freed a second later; without an argument. With one: it is not.
 */
#include "make_buffer.h"

int main(int argc, char **argv TK_UNUSED)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(1000);
	tk_flip(p, 1010, 1);
	tk_sync();
	tk_sleep_ms(1000);
	fprintf(stderr, "leaving\n");
	if (argc == 1)
		CK(cuMemFree(p));
	return 0;
}
