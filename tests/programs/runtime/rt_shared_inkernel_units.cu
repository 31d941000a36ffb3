// expect: heap-buffer-overflow size 70 offset +0
// expect: 32 x double-free size 70
// options: device_free_delay=1000
// suspect: unit_scribble
/* Two translation units, each with a module of its own: what one allocates the other overruns, and frees again. */
#include "runtime.cuh"

#include "include/gmod_device.cuh"
#include "inkernel_unit.cuh"

__global__ void rt_allocate(char **out)
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = (char *)mallocN(70);
}

__global__ void rt_free(char **p)
{
	freeN(p[threadIdx.x]);
}

int main()
{
	char **p;

	RT(cudaMalloc(&p, 256 * sizeof(*p)));
	rt_allocate<<<2, 128>>>(p);
	unit_overflow(p, 77, 70);
	rt_free<<<1, 32>>>(p);
	unit_free(p, 256);
	RT(cudaDeviceSynchronize());
	RT(cudaFree(p));
}
