// expect: leak size 64 in make_pinned
// options: leak_check=1
/* Pinned memory that is never freed. */
#include "make_buffer.h"

int main(void)
{
	tk_start();
	make_pinned(64)[0] = 1;
	CK(cuMemFree(make_buffer(100)));
}
