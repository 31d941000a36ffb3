/* In a cooperative launch each thread uses and frees what another one has allocated before the grid met. */
#include "runtime.cuh"

#include <cooperative_groups.h>

#include "include/gmod_device.cuh"

__global__ void rt_pass_on(int **p, int n, unsigned long long *sum)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int i = (int)grid.thread_rank(), next = (i + 33) % n;

	for (int round = 0; round < 10; round++) {
		p[i] = (int *)mallocN((i % 20 + 1) * sizeof(int));
		if (p[i])
			p[i][i % 20] = i;
		grid.sync();
		if (p[next])
			atomicAdd(sum, (unsigned long long)p[next][next % 20]);
		grid.sync();
		freeN(p[next]);
		grid.sync();
	}
}

int main()
{
	int n = 16 * 64, **p;
	unsigned long long *sum, result;
	void *arguments[] = {&p, &n, &sum};

	RT(cudaMalloc(&p, n * sizeof(*p)));
	RT(cudaMalloc(&sum, sizeof(*sum)));
	RT(cudaMemset(sum, 0, sizeof(*sum)));
	RT(cudaLaunchCooperativeKernel((void *)rt_pass_on, 16, 64, arguments, 0, NULL));
	RT(cudaMemcpy(&result, sum, sizeof(result), cudaMemcpyDeviceToHost));
	printf("sum %llu\n", result);
}
