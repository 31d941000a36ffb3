// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
// options: scan_interval_us=60000000
/* The graph that did it is gone when its damage is found, and others may have its handle: they have another kernel. */
#include "kernel_node.h"
#include "make_buffer.h"

static long long inside, end = 3000, count = 4;
static int value = 1;

static void run(const char *kernel, void **args)
{
	CUDA_KERNEL_NODE_PARAMS node = kernel_node(kernel, args);
	CUgraph graph = kernel_graph(&node, NULL);
	CUgraphExec exec;

	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, NULL));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
}

int main(void)
{
	CUdeviceptr p = make_buffer(3000);

	run("k_flip", TK_ARGS(&p, &end, &count));
	run("k_fill", TK_ARGS(&p, &inside, &count, &value));
	run("k_fill", TK_ARGS(&p, &inside, &count, &value));
	tk_sync();
	CK(cuMemFree(p));
}
