/* Two translation units of relocatable device code that allocate, use and free each other's buffers. */
#include "runtime.cuh"

#include "include/gmod_device.cuh"
#include "inkernel_unit.cuh"

__global__ void rt_allocate(char **out, int size)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	char *p = i % 2 ? unit_allocate(size) : (char *)mallocN(size);

	for (int k = 0; p && k < size; k++)
		p[k] = (char)(i + k);
	out[i] = p;
}

__global__ void rt_verify(char **p, int size, int *bad)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; p[i] && k < size; k++)
		if (p[i][k] != (char)(i + k))
			atomicAdd(bad, 1);
}

int main()
{
	int *bad, result;
	char **p;

	RT(cudaMalloc(&p, 1024 * sizeof(*p)));
	RT(cudaMalloc(&bad, sizeof(*bad)));
	RT(cudaMemset(bad, 0, sizeof(*bad)));
	for (int size = 1; size < 500; size += 31) {
		rt_allocate<<<8, 128>>>(p, size);
		rt_verify<<<8, 128>>>(p, size, bad);
		unit_free(p, 1024);
	}
	RT(cudaMemcpy(&result, bad, sizeof(result), cudaMemcpyDeviceToHost));
	printf("bytes gone: %d\n", result);
}
