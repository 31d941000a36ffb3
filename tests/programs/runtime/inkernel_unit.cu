/*
 * A translation unit that programs of two units are linked with: with -rdc=true they share one module and call each
 * other's device functions, without it each has a module of its own.
 */
#include "include/gmod_device.cuh"
#include "inkernel_unit.cuh"

#if defined(__CUDACC_RDC__)
__device__ char *unit_allocate(size_t size)
{
	return (char *)mallocN(size);
}
#endif

__global__ void unit_scribble(char **p, int index, int offset)
{
	p[index][offset] ^= 0x5a;
}

__global__ void unit_free_kernel(char **p)
{
	freeN(p[blockIdx.x * blockDim.x + threadIdx.x]);
}

void unit_overflow(char **p, int index, int offset)
{
	unit_scribble<<<1, 1>>>(p, index, offset);
}

void unit_free(char **p, int count)
{
	unit_free_kernel<<<count / 32, 32>>>(p);
}
