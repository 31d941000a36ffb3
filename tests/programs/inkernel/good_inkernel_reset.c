/* The device is reset with buffers of kernels alive, then used again, three times over. */
#include "inkernel.h"

int main(void)
{
	long long rounds = 10, seed = 3;
	CUdeviceptr bad;

	for (int i = 0; i < 3; i++) {
		ik_start();
		bad = ik_counter();
		ik_alloc(300, 300);
		tk_launch(ik_kernel("d_churn"), 4, 64, NULL, TK_ARGS(&rounds, &seed, &bad));
		printf("reset %d: marks gone: %d\n", i, ik_count(bad));
		CK(cuDevicePrimaryCtxReset(tk_device));
	}
	return 0;
}
