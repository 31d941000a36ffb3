// expect: heap-buffer-overflow size 1000 offset +24 in make_buffer
// suspect: k_stride
/* Every 64th byte past the end: most canary bytes stay as they are. */
#include "make_buffer.h"

int main(void)
{
	long long first = 1024, stride = 64, count = 16;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(1000);
	tk_launch_n(tk_kernel("k_stride"), count, NULL, TK_ARGS(&p, &first, &stride, &count));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
