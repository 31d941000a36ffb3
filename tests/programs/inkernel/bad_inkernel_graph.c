// expect: 3 x heap-buffer-overflow size 40 offset +0
// suspect: d_flip
/*
 * A graph built by hand that allocates, writes too far and frees, launched three times: no kernel of the module has
 * been launched before.
 */
#include "inkernel.h"
#include "kernel_node.h"

static CUgraphNode add(CUgraph graph, const CUgraphNode *after, const char *kernel, unsigned threads, void **args)
{
	CUDA_KERNEL_NODE_PARAMS node = kernel_node_of(ik_kernel(kernel), threads, args);
	CUgraphNode added;

	CK(cuGraphAddKernelNode(&added, graph, after, after != NULL, &node));
	return added;
}

int main(void)
{
	long long count = 64, size = 40, index = 5, one = 1, none = 0;
	CUgraphNode node;
	CUgraph graph;
	CUdeviceptr p = ik_array(count);

	CK(cuGraphCreate(&graph, 0));
	node = add(graph, NULL, "d_alloc", 64, TK_ARGS(&p, &count, &size, &none));
	node = add(graph, &node, "d_flip", 1, TK_ARGS(&p, &index, &size, &one));
	add(graph, &node, "d_free", 64, TK_ARGS(&p, &count, &none));
	tk_run_graph(graph, NULL, 3);
	CK(cuMemFree(p));
}
