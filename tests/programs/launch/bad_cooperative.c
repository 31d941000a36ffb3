// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_coop
/* A cooperative launch. */
#include "make_buffer.h"

int main(void)
{
	long long off = 3000, count = 32;
	CUfunction f;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(3000);
	f = tk_kernel("k_coop");
	CK(cuLaunchCooperativeKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, TK_ARGS(&p, &off, &count)));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
