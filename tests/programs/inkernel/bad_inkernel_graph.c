// expect: 3 x heap-buffer-overflow size 40 offset +0
// suspect: d_flip
/*
 * A graph built by hand that allocates, writes too far and frees, launched three times: no kernel of the module has
 * been launched before.
 */
#include "inkernel.h"

static CUgraphNode add(CUgraph graph, const CUgraphNode *after, const char *kernel, unsigned threads, void **args)
{
	CUDA_KERNEL_NODE_PARAMS node = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
	CUgraphNode added;

	node.func = ik_kernel(kernel);
	node.blockDimX = threads;
	node.blockDimY = node.blockDimZ = 1;
	node.kernelParams = args;
	CK(cuGraphAddKernelNode(&added, graph, after, after != NULL, &node));
	return added;
}

int main(void)
{
	long long count = 64, size = 40, index = 5, one = 1, none = 0;
	CUgraphNode node;
	CUgraphExec exec;
	CUgraph graph;
	CUdeviceptr p;

	ik_start();
	CK(cuMemAlloc(&p, (size_t)count * sizeof(void *)));
	CK(cuGraphCreate(&graph, 0));
	node = add(graph, NULL, "d_alloc", 64, TK_ARGS(&p, &count, &size, &none));
	node = add(graph, &node, "d_flip", 1, TK_ARGS(&p, &index, &size, &one));
	add(graph, &node, "d_free", 64, TK_ARGS(&p, &count, &none));
	CK(cuGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		CK(cuGraphLaunch(exec, NULL));
	tk_sync();
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	CK(cuMemFree(p));
	return 0;
}
