// expect: heap-buffer-overflow size 40 offset +3
// suspect: rt_scribble
/* Kernels of a runtime program that allocate for themselves: the runtime loads its modules as libraries. */
#include "include/gmod_device.cuh"
#include "runtime.cuh"

__global__ void rt_allocate(char **out)
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = (char *)mallocN(40);
}

__global__ void rt_scribble(char **p)
{
	p[77][43] ^= 0x5a;
}

int main()
{
	char **p;

	RT(cudaMalloc(&p, 256 * sizeof(*p)));
	rt_allocate<<<2, 128>>>(p);
	rt_scribble<<<1, 1>>>(p);
	RT(cudaDeviceSynchronize());
	RT(cudaFree(p));
}
