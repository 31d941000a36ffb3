/* Lanes come back from mallocN and freeN one by one; barriers and shuffles behind that wait for all of them
 * nevertheless. */
#include "runtime.cuh"

#include "include/gmod_device.cuh"

__device__ unsigned arrived[1000], early;

__global__ void rt_barriers(int rounds)
{
	for (int r = 0; r < rounds; r++) {
		int *p;

		__barrier_sync(0);
		p = (int *)mallocN((threadIdx.x % 20 + 1) * sizeof(int));
		__barrier_sync(0);
		if (p)
			p[threadIdx.x % 20] = 1;
		atomicAdd(&arrived[r], 1);
		freeN(p);
		__barrier_sync(0);
		if (*(volatile unsigned *)&arrived[r] != blockDim.x)
			atomicAdd(&early, 1);
	}
}

__global__ void rt_shuffles(int rounds)
{
	int lane = threadIdx.x % 32;

	for (int r = 0; r < rounds; r++) {
		int *p = (int *)mallocN((threadIdx.x % 20 + 1) * sizeof(int));

		if (__shfl_xor_sync(0xffffffff, lane, 5) != (lane ^ 5))
			atomicAdd(&early, 1);
		freeN(p);
		if (__shfl_xor_sync(0xffffffff, lane, 9) != (lane ^ 9))
			atomicAdd(&early, 1);
	}
}

int main()
{
	unsigned result;

	rt_barriers<<<1, 256>>>(1000);
	rt_shuffles<<<16, 256>>>(100);
	RT(cudaMemcpyFromSymbol(&result, early, sizeof(result)));
	printf("early %u\n", result);
}
