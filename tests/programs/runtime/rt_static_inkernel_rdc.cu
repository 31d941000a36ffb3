// expect: heap-buffer-overflow size 70 offset +0
// suspect: unit_scribble
/*
 * Two translation units of relocatable device code: a kernel here calls a function there that allocates; there it is
 * written too far and freed.
 */
#include "runtime.cuh"

#include "include/gmod_device.cuh"
#include "inkernel_unit.cuh"

__global__ void rt_allocate(char **out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = i % 2 ? unit_allocate(70) : (char *)mallocN(70);
}

int main()
{
	char **p;

	RT(cudaMalloc(&p, 256 * sizeof(*p)));
	rt_allocate<<<2, 128>>>(p);
	unit_overflow(p, 77, 70);
	unit_free(p, 256);
	RT(cudaDeviceSynchronize());
	RT(cudaFree(p));
}
