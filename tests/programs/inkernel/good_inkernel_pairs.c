/* Kernels that allocate, use and free, of all kinds of sizes. */
#include "inkernel.h"

int main(void)
{
	static long long sizes[] = {0, 1, 15, 16, 17, 64, 100, 1000, 5000, 9000};
	long long rounds = 3;
	CUdeviceptr missing, none = 0;
	int lost;

	ik_start();
	CK(cuMemAlloc(&missing, sizeof(lost)));
	CK(cuMemsetD32(missing, 0, 1));
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		tk_launch(ik_kernel("d_pairs"), 8, 64, NULL, TK_ARGS(&rounds, &sizes[i], &missing, &none));
	tk_sync();
	CK(cuMemcpyDtoH(&lost, missing, sizeof(lost)));
	printf("not got: %d\n", lost);
	CK(cuMemFree(missing));
}
