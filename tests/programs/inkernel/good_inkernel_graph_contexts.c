/* A graph whose kernels are of another context than the one it is launched in, in which nothing has been launched. */
#include "inkernel.h"

static CUgraph one_kernel(CUfunction kernel, unsigned threads, void **args)
{
	CUDA_KERNEL_NODE_PARAMS node = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
	CUgraphNode added;
	CUgraph graph;

	node.func = kernel;
	node.blockDimX = threads;
	node.blockDimY = node.blockDimZ = 1;
	node.kernelParams = args;
	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddKernelNode(&added, graph, NULL, 0, &node));
	return graph;
}

int main(void)
{
	long long count = 64, size = 40, none = 0;
	CUgraphExec exec;
	CUcontext other;
	CUmodule module;
	CUgraph graph;
	CUdeviceptr p;

	ik_start();
	CK(cuCtxCreate(&other, NULL, 0, tk_device));
	module = ik_another();
	CK(cuMemAlloc(&p, (size_t)count * sizeof(void *)));
	graph = one_kernel(tk_kernel_of(module, "d_alloc"), 64, TK_ARGS(&p, &count, &size, &none));
	CK(cuCtxSetCurrent(tk_context));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, NULL));
	tk_sync();
	CK(cuCtxSetCurrent(other));
	tk_launch(tk_kernel_of(module, "d_free"), 1, 64, NULL, TK_ARGS(&p, &count, &none));
	tk_sync();
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	CK(cuMemFree(p));
	return 0;
}
