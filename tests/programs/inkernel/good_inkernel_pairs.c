/* Kernels that allocate, use and free, of all kinds of sizes, and one in blocks as large as there are. */
#include "inkernel.h"

int main(void)
{
	static long long sizes[] = {0, 1, 15, 16, 17, 64, 100, 1000, 5000, 9000};
	long long rounds = 3;
	CUdeviceptr missing = ik_counter(), none = 0;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		tk_launch(ik_kernel("d_pairs"), 8, 64, NULL, TK_ARGS(&rounds, &sizes[i], &missing, &none));
	/* CUDA's own heap has 8 MiB. */
	tk_launch(ik_kernel("d_pairs"), 2, 1024, NULL, TK_ARGS(&rounds, &sizes[7], &missing, &none));
	printf("not got: %d\n", ik_count(missing));
	CK(cuMemFree(missing));
}
