// expect: heap-buffer-underflow size 100 offset -16 in make_buffer
// suspect: k_store16
/* A 16-byte store that ends where the buffer starts. */
#include "make_buffer.h"

int main(void)
{
	long long off = -16;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(100);
	tk_launch(tk_kernel("k_store16"), 1, 1, NULL, TK_ARGS(&p, &off));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
