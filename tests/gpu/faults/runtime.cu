// runtime none|free|reset: a store far outside, a wait, and then the end of a program of the CUDA runtime, which sets
// the dump by the driver's environment variables (CUDA_ENABLE_COREDUMP_ON_EXCEPTION and the others).
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void store_far(int *p)
{
	if (threadIdx.x == 7 && blockIdx.x == 3)
		p[(1l << 38) + 5] = 42;
}

int main(int count, char **words)
{
	const char *act = count > 1 ? words[1] : "none";
	int *p, *q, back = 0;

	setvbuf(stdout, nullptr, _IONBF, 0);
	if (cudaMalloc(&p, 4096) || cudaMalloc(&q, 64 << 20))
		return 3;
	store_far<<<8, 32>>>(p);
	printf("wait=%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	if (!strcmp(act, "copy"))
		printf("copy=%s\n", cudaGetErrorName(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost)));
	if (!strcmp(act, "free") || !strcmp(act, "copy")) {
		printf("free=%s\n", cudaGetErrorName(cudaFree(q)));
		printf("free_its=%s\n", cudaGetErrorName(cudaFree(p)));
	}
	if (!strcmp(act, "reset"))
		printf("reset=%s\n", cudaGetErrorName(cudaDeviceReset()));
	printf("end=1\n");
	return 0;
}
