// expect: heap-buffer-underflow size 4000 offset -4 in make_buffer
// suspect: k_atomic_add
/* A count into the word before the first. */
#include "make_buffer.h"

int main(void)
{
	long long off = -4;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	tk_launch(tk_kernel("k_atomic_add"), 1, 32, NULL, TK_ARGS(&p, &off));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
