/* Contexts that come and go, each with a heap of its own. */
#include "inkernel.h"

int main(void)
{
	long long rounds = 10, seed = 3;
	CUcontext context;
	CUdeviceptr bad;

	tk_init();
	CK(cuDeviceGet(&tk_device, 0));
	for (int i = 0; i < 5; i++) {
		CK(cuCtxCreate(&context, NULL, 0, tk_device));
		CK(cuModuleLoad(&ik_module, ik_file()));
		bad = ik_counter();
		ik_alloc(300, 300);
		tk_launch(ik_kernel("d_churn"), 4, 64, NULL, TK_ARGS(&rounds, &seed, &bad));
		printf("context %d: marks gone: %d\n", i, ik_count(bad));
		CK(cuCtxDestroy(context));
	}
	return 0;
}
