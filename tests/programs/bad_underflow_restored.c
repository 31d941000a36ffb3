// expect: heap-buffer-underflow size 4096 offset -8 in make_buffer
// suspect: k_flip_restore
// options: small_mapped=0
/* The bytes before the start, changed for 30 ms and put back. */
#include "make_buffer.h"

int main(void)
{
	long long off = -8, count = 8;
	CUdeviceptr p;
	int ms = 30;

	tk_start();
	p = make_buffer(4096);
	tk_launch(tk_kernel("k_flip_restore"), 1, 1, NULL, TK_ARGS(&p, &off, &count, &ms));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
