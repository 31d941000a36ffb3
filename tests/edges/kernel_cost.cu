/*
 * A kernel with PAIRS of an allocation and a free, each of another size, for kernel_cost.sh: by mallocN, or, for what
 * there is to compare with, by CUDA's own malloc and no header.
 */
#if defined(CUDAS)
#define ALLOCATE malloc
#define FREE free
#else
#include <gmod_device.cuh>
#define ALLOCATE mallocN
#define FREE freeN
#endif

__global__ void k_pairs(int n, int *out)
{
	int sum = 0;

	/* Not a loop when it is compiled: each of them is a place where the code calls. */
#pragma unroll
	for (int i = 0; i < PAIRS; i++) {
		int size = n * (i + 1) + 4 * i, *p = (int *)ALLOCATE(size * sizeof(int));

		for (int k = 0; p && k < size; k++)
			p[k] = k + i;
		__syncthreads();
		sum += p ? p[size / 2] : 0;
		FREE(p);
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void launch(int *out)
{
	k_pairs<<<1, 32>>>(10, out);
}
