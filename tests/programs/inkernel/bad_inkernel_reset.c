// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
/* The device is reset right after the kernels. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(20, 60);
	ik_flip(p, 9, 60, 1);
	tk_sync();
	CK(cuDevicePrimaryCtxReset(tk_device));
	return 0;
}
