/* A graph whose kernels are of another context than the one it is launched in, in which nothing has been launched. */
#include "inkernel.h"
#include "kernel_node.h"

int main(void)
{
	long long count = 64, size = 40, none = 0;
	CUDA_KERNEL_NODE_PARAMS node;
	CUcontext other;
	CUmodule module;
	CUgraph graph;
	CUdeviceptr p;

	ik_start();
	CK(tk_create_context(&other, tk_device));
	module = ik_another();
	CK(cuMemAlloc(&p, (size_t)count * sizeof(void *)));
	node = kernel_node_of(tk_kernel_of(module, "d_alloc"), 64, TK_ARGS(&p, &count, &size, &none));
	graph = kernel_graph(&node, NULL);
	CK(cuCtxSetCurrent(tk_context));
	tk_run_graph(graph, NULL, 1);
	CK(cuCtxSetCurrent(other));
	tk_launch(tk_kernel_of(module, "d_free"), 1, 64, NULL, TK_ARGS(&p, &count, &none));
	tk_sync();
	CK(cuMemFree(p));
}
