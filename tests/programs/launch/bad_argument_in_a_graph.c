// case: bad_argument_in_a_graph 0
// case: bad_argument_in_an_updated_graph 1 => first: unknown x1 .* in graph 0x[0-9a-f]+.*: its arguments .*
// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip_[0-9]+
// first: k_flip_17 x1 .* in graph 0x[0-9a-f]+, at .*: argument 0 points into the buffer
// needs: cuFuncGetParamInfo
// options: scan_interval_us=60000000
/*
 * One of a graph's 200 nodes, of 60 kernels, has the buffer: its kernel is the first suspect. Where the graph was given
 * other arguments since it was made, none is known.
 */
#include "kernel_node.h"
#include "make_buffer.h"

enum { NODES = 200, KERNELS = 60, CULPRIT = 137 };

int main(void)
{
	CUdeviceptr p = make_buffer(3000), other = tk_alloc(8 << 20), far = other + (4 << 20);
	long long off = 3000, count = 4, away = 0;
	CUgraphNode node = NULL, first = NULL;
	CUDA_KERNEL_NODE_PARAMS params;
	CUgraphExec exec;
	CUgraph graph;

	CK(cuGraphCreate(&graph, 0));
	for (int i = 0; i < NODES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k_flip_%02d", i == CULPRIT ? 17 : i % KERNELS);
		params = i == CULPRIT ? kernel_node(name, TK_ARGS(&p, &off, &count))
				      : kernel_node(name, TK_ARGS(&far, &away, &count));
		CK(cuGraphAddKernelNode(&node, graph, node ? &node : NULL, node ? 1 : 0, &params));
		first = first ? first : node;
	}
	CK(cuGraphInstantiate(&exec, graph, 0));
	if (CASE) {
		params = kernel_node("k_flip_00", TK_ARGS(&far, &away, &count));
		CK(cuGraphExecKernelNodeSetParams(exec, first, &params));
	}
	CK(cuGraphLaunch(exec, NULL));
	CK(cuMemFree(p));
	CK(cuMemFree(other));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
}
