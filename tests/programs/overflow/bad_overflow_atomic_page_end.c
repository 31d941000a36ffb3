// expect: heap-buffer-overflow size 8192 offset +64 in make_buffer
// suspect: k_atomic_add
/* Atomics on a canary that lies on the host, not in the rounding behind the buffer. */
#include "make_buffer.h"

int main(void)
{
	long long off = 8192 + 64;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(8192);
	tk_launch(tk_kernel("k_atomic_add"), 2, 64, NULL, TK_ARGS(&p, &off));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
