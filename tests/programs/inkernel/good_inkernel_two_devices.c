// devices: 2
/* Kernels of two devices, each with a heap of its own. */
#include "inkernel.h"

int main(void)
{
	long long rounds = 10, seed = 3, count = 100, size = 100;
	CUdeviceptr p[2], bad[2];
	CUcontext context[2];
	CUmodule module[2];

	if (tk_init() < 2)
		tk_skip("one device only");
	for (int i = 0; i < 2; i++) {
		CK(cuDeviceGet(&tk_device, i));
		CK(cuDevicePrimaryCtxRetain(&context[i], tk_device));
		CK(cuCtxSetCurrent(context[i]));
		module[i] = ik_another();
		p[i] = ik_alloc_of(module[i], count, size, 0);
		bad[i] = ik_counter();
		tk_launch(tk_kernel_of(module[i], "d_churn"), 4, 64, NULL, TK_ARGS(&rounds, &seed, &bad[i]));
	}
	for (int i = 0; i < 2; i++) {
		CK(cuCtxSetCurrent(context[i]));
		ik_module = module[i];
		ik_free(p[i], count, 0);
		printf("device %d: marks gone: %d\n", i, ik_count(bad[i]));
	}
}
