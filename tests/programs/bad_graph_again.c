// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
// options: gather_interval_ms=0
/*
 * The graph that did it is gone when its damage is found, and others may have its handle: they have another kernel.
 */
#include "make_buffer.h"

static long long inside, end = 3000, count = 4;
static int value = 1;

static void run(const char *kernel, void **args)
{
	CUDA_KERNEL_NODE_PARAMS node = {.func = tk_kernel(kernel),
					.gridDimX = 1,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 4,
					.blockDimY = 1,
					.blockDimZ = 1,
					.kernelParams = args};
	CUgraphNode added;
	CUgraphExec exec;
	CUgraph graph;

	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddKernelNode(&added, graph, NULL, 0, &node));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, NULL));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
}

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(3000);
	run("k_flip", TK_ARGS(&p, &end, &count));
	run("k_fill", TK_ARGS(&p, &inside, &count, &value));
	run("k_fill", TK_ARGS(&p, &inside, &count, &value));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
