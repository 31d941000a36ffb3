// expect: heap-buffer-overflow size 100 offset +3
// suspect: rt_grid_overflow
/* In a cooperative launch a thread writes behind what a thread of another block has allocated, who frees it then. */
#include "runtime.cuh"

#include <cooperative_groups.h>

#include "include/gmod_device.cuh"

__global__ void rt_grid_overflow(char **p)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int i = (int)grid.thread_rank();

	p[i] = (char *)mallocN(100);
	grid.sync();
	if (i == 0 && p[1000])
		p[1000][103] ^= 0x5a;
	grid.sync();
	freeN(p[i]);
}

int main()
{
	char **p;
	void *arguments[] = {&p};

	RT(cudaMalloc(&p, 1024 * sizeof(*p)));
	RT(cudaLaunchCooperativeKernel((void *)rt_grid_overflow, 16, 64, arguments, 0, NULL));
	RT(cudaDeviceSynchronize());
	RT(cudaFree(p));
}
