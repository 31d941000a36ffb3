// expect: heap-buffer-overflow size 3000 offset +5 in make_buffer
// suspect: k_flip
/* cuLaunchKernelEx. */
#include "make_buffer.h"

int main(void)
{
	CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1};
	long long off = 3005, count = 32;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(3000);
	config.blockDimZ = 1;
	CK(cuLaunchKernelEx(&config, tk_kernel("k_flip"), TK_ARGS(&p, &off, &count), NULL));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
