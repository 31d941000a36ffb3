// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip_restore
/* Changed for 30 ms, then put back: at the end nothing is wrong any more. */
#include "make_buffer.h"

int main(void)
{
	long long off = 4096, count = 8;
	CUdeviceptr p;
	int ms = 30;

	tk_start();
	p = make_buffer(4096);
	tk_launch(tk_kernel("k_flip_restore"), 1, 1, NULL, TK_ARGS(&p, &off, &count, &ms));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
