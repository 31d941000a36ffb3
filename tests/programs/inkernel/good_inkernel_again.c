// case: good_inkernel_contexts 1
// case: good_inkernel_reset 0
/* Contexts that come and go, each with a heap of its own; the device is reset with buffers of kernels alive. */
#include "inkernel.h"

int main(void)
{
	long long rounds = 10, seed = 3;
	int own_context = CASE;
	CUcontext context;
	CUdeviceptr bad;

	for (int i = 0; i < 5; i++) {
		context = own_context ? ik_start_in_new_context() : (ik_start(), tk_context);
		bad = ik_counter();
		ik_alloc(300, 300);
		tk_launch(ik_kernel("d_churn"), 4, 64, NULL, TK_ARGS(&rounds, &seed, &bad));
		printf("round %d: marks gone: %d\n", i, ik_count(bad));
		CK(own_context ? cuCtxDestroy(context) : cuDevicePrimaryCtxReset(tk_device));
	}
}
