/* Kernels that allocate, use and free, of all kinds of sizes. */
#include "inkernel.h"

int main(void)
{
	static long long sizes[] = {0, 1, 15, 16, 17, 64, 100, 1000, 5000, 9000};
	long long rounds = 3;
	CUdeviceptr missing = ik_counter(), none = 0;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		tk_launch(ik_kernel("d_pairs"), 8, 64, NULL, TK_ARGS(&rounds, &sizes[i], &missing, &none));
	printf("not got: %d\n", ik_count(missing));
	CK(cuMemFree(missing));
}
