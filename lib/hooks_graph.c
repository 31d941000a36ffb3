/* Graphs: which kernels an executable graph runs, learned when it is made. */
#include <stdlib.h>

#include "lib/hook.h"
#include "lib/start.h"
#include "monitor/names.h"

enum { KERNELS = 64, NODES = 1024, DEPTH = 4 };

struct kernels {
	uint64_t function[KERNELS];
	unsigned count;
};

static void add(struct kernels *k, const void *function)
{
	uint64_t handle = gmod_handle(function);

	for (unsigned i = 0; i < k->count; i++)
		if (k->function[i] == handle)
			return;
	if (handle && k->count < KERNELS)
		k->function[k->count++] = handle;
}

static void collect(struct kernels *k, CUgraph graph, int depth);

static void collect_node(struct kernels *k, CUgraphNode node, int depth)
{
	CUDA_KERNEL_NODE_PARAMS_v2 params;
	CUgraphNodeType type;
	CUgraph child;

	CUresult r = NEXT(cuGraphNodeGetType)(node, &type);

	if (r == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_KERNEL) {
		r = NEXT(cuGraphKernelNodeGetParams_v2)(node, &params);
		if (r == CUDA_SUCCESS)
			add(k, params.func ? (const void *)params.func : (const void *)params.kern);
	} else if (r == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_GRAPH) {
		r = NEXT(cuGraphChildGraphNodeGetGraph)(node, &child);
		if (r == CUDA_SUCCESS)
			collect(k, child, depth + 1);
	}
	if (r != CUDA_SUCCESS)
		gmod_degraded("asking a graph node");
}

/* The first nodes of a large graph stand for it: a report has room for a few names. */
static void collect(struct kernels *k, CUgraph graph, int depth)
{
	CUgraphNode nodes[NODES];
	size_t count = NODES;

	if (depth > DEPTH)
		return;
	if (NEXT(cuGraphGetNodes)(graph, nodes, &count) != CUDA_SUCCESS) {
		gmod_degraded("cuGraphGetNodes");
		return;
	}
	for (size_t i = 0; i < count && i < NODES; i++)
		collect_node(k, nodes[i], depth);
}

static CUresult instantiated(CUresult r, const CUgraphExec *exec, CUgraph graph, const char *entry_point)
{
	struct kernels k = {.count = 0};

	if (r == CUDA_SUCCESS && gmod_on() && exec && HAVE(cuGraphKernelNodeGetParams_v2)) {
		collect(&k, graph, 0);
		gmod_graph_learn(gmod_handle(*exec), k.function, k.count);
	}
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
					char *logBuffer, size_t bufferSize)
{
	return instantiated(NEXT(cuGraphInstantiate)(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize),
			    phGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
					   char *logBuffer, size_t bufferSize)
{
	return instantiated(NEXT(cuGraphInstantiate_v2)(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize),
			    phGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
	return instantiated(NEXT(cuGraphInstantiateWithFlags)(phGraphExec, hGraph, flags), phGraphExec, hGraph,
			    __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
						  CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	return instantiated(NEXT(cuGraphInstantiateWithParams)(phGraphExec, hGraph, instantiateParams), phGraphExec,
			    hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
						       CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	return instantiated(NEXT(cuGraphInstantiateWithParams_ptsz)(phGraphExec, hGraph, instantiateParams),
			    phGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	return gmod_done(NEXT(cuGraphExecDestroy)(hGraphExec), __func__);
}
