// expect: heap-buffer-overflow size 8192 offset +1000 in make_buffer
// suspect: k_stride
/* Three single bytes, a thousand apart: column N+1 of a matrix. */
#include "make_buffer.h"

int main(void)
{
	long long first = 8192 + 1000, stride = 1000, count = 3;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(8192);
	tk_launch_n(tk_kernel("k_stride"), count, NULL, TK_ARGS(&p, &first, &stride, &count));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
