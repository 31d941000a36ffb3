// guarded: no
/* A graph that allocates, fills, copies out and frees, launched several times. */
#include "testkit.h"

int main(void)
{
	CUDA_MEM_ALLOC_NODE_PARAMS alloc = {.bytesize = 4000};
	CUDA_MEMSET_NODE_PARAMS fill = {.elementSize = 1, .width = 4000, .height = 1, .pitch = 4000, .value = 7};
	CUgraphNode allocated, filled, freed;
	CUgraph graph;
	CUdeviceptr p = tk_alloc(100);

	alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddMemAllocNode(&allocated, graph, NULL, 0, &alloc));
	fill.dst = alloc.dptr;
	CK(cuGraphAddMemsetNode(&filled, graph, &allocated, 1, &fill, tk_context));
	CK(cuGraphAddMemFreeNode(&freed, graph, &filled, 1, alloc.dptr));
	tk_run_graph(graph, NULL, 5);
	CK(cuMemFree(p));
	puts("launched");
}
