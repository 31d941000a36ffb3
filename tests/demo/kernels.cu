/*
 * The demo's kernels, in the dialect of tests/programs/kernels.h: C for the simulated driver, CUDA for a GPU. GT_FAULTS
 * has the simulated driver know the line of an access, where that faults.
 */
#define GT_KERNEL_MODULE
#include "kernels.h"

/* x[i] *= factor for i < n. */
GT_KERNEL3(scale, float *, x, float, factor, long long, n)
{
	long long i = GT_TID();

	if (i < n)
		GT_FAULTS(GT_ACCESS, x + i, x[i] *= factor);
}

/* sum[i] = a[i] + b[i]: and one element too many, because of <= where < was meant. */
GT_KERNEL4(vec_add, float *, sum, const float *, a, const float *, b, long long, n)
{
	long long i = GT_TID();

	if (i <= n) {
		float left = GT_FAULTS(GT_ACCESS, a + i, a[i]);
		float right = GT_FAULTS(GT_ACCESS, b + i, b[i]);

		sum[i] = left + right;
	}
}
