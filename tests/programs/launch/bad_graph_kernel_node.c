// expect: heap-buffer-underflow size 2000 offset -2 in make_buffer
// suspect: k_flip
/* The kernel is a node that was added to a graph by hand. */
#include "make_buffer.h"

int main(void)
{
	CUDA_KERNEL_NODE_PARAMS node = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
	long long off = -2, count = 2;
	CUgraphNode added;
	CUgraphExec exec;
	CUgraph graph;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(2000);
	node.func = tk_kernel("k_flip");
	node.blockDimX = 2;
	node.blockDimY = node.blockDimZ = 1;
	node.kernelParams = TK_ARGS(&p, &off, &count);
	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddKernelNode(&added, graph, NULL, 0, &node));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, NULL));
	tk_sync();
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	CK(cuMemFree(p));
	return 0;
}
