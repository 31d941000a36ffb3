/* A graph's node of a test kernel: one block. */
#pragma once

#include "testkit.h"

/* args are read when the node is made. */
static TK_UNUSED CUDA_KERNEL_NODE_PARAMS kernel_node_of(CUfunction kernel, unsigned threads, void **args)
{
	return (CUDA_KERNEL_NODE_PARAMS){
	    .func = kernel,
	    .gridDimX = 1,
	    .gridDimY = 1,
	    .gridDimZ = 1,
	    .blockDimX = threads,
	    .blockDimY = 1,
	    .blockDimZ = 1,
	    .kernelParams = args,
	};
}

static TK_UNUSED CUDA_KERNEL_NODE_PARAMS kernel_node(const char *kernel, void **args)
{
	return kernel_node_of(tk_kernel(kernel), 4, args);
}

/* A graph of one such node; node: NULL if it is not wanted. */
static TK_UNUSED CUgraph kernel_graph(const CUDA_KERNEL_NODE_PARAMS *params, CUgraphNode *node)
{
	CUgraphNode added;
	CUgraph graph;

	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddKernelNode(node ? node : &added, graph, NULL, 0, params));
	return graph;
}
