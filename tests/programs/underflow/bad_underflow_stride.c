// expect: heap-buffer-underflow size 4096 offset -1000 in make_buffer
// suspect: k_stride
/* Every 100th byte before the start. */
#include "make_buffer.h"

int main(void)
{
	long long first = -1000, stride = 100, count = 10;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4096);
	tk_launch_n(tk_kernel("k_stride"), count, NULL, TK_ARGS(&p, &first, &stride, &count));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
