/* Graphs: which kernels an executable graph runs, learned when it is made and when it is changed. */
#include <stdatomic.h>
#include <stdbool.h>

#include "lib/hook.h"
#include "lib/start.h"
#include "monitor/names.h"

enum { KERNELS = 64, NODES = 1024, DEPTH = 4 };

struct kernels {
	uint64_t function[KERNELS + 1];
	unsigned count;
	bool more; /* that are not among these */
};

static void add(struct kernels *k, const void *function)
{
	uint64_t handle = gmod_handle(function);

	for (unsigned i = 0; i < k->count; i++)
		if (k->function[i] == handle)
			return;
	if (handle && k->count < KERNELS)
		k->function[k->count++] = handle;
	else if (handle)
		k->more = true;
}

/* What is not known of them stands for one without a name, which is a suspect like the others. */
static void add_unknown(struct kernels *k)
{
	if (k->more)
		k->function[k->count++] = 0;
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
	} else if (r == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
		k->more = true; /* its bodies do not say whose they are */
	}
	if (r != CUDA_SUCCESS)
		gmod_degraded("asking a graph node");
}

/* Of a large graph the first nodes are looked at. */
static void collect(struct kernels *k, CUgraph graph, int depth)
{
	CUgraphNode nodes[NODES];
	size_t count = NODES, all = 0;

	if (depth > DEPTH) {
		k->more = true;
		return;
	}
	if (NEXT(cuGraphGetNodes)(graph, NULL, &all) != CUDA_SUCCESS ||
	    NEXT(cuGraphGetNodes)(graph, nodes, &count) != CUDA_SUCCESS) {
		gmod_degraded("cuGraphGetNodes");
		return;
	}
	k->more |= all > NODES;
	for (size_t i = 0; i < count && i < NODES; i++)
		collect_node(k, nodes[i], depth);
}

static CUresult instantiated(CUresult r, const CUgraphExec *exec, CUgraph graph, const char *entry_point)
{
	struct kernels k = {.count = 0};

	if (r == CUDA_SUCCESS && gmod_on() && exec && HAVE(cuGraphKernelNodeGetParams_v2)) {
		collect(&k, graph, 0);
		add_unknown(&k);
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

/* The updates looked at since one brought a new kernel in. */
static _Atomic unsigned brought_nothing;

/*
 * Looking takes two calls for each node, and there are programs that update a graph before each launch: of those whose
 * updates bring nothing new, one in 64 is looked at.
 */
static bool is_looked_at(void)
{
	static _Atomic unsigned updates;

	return atomic_fetch_add_explicit(&updates, 1, memory_order_relaxed) % 64 == 0 ||
	       atomic_load_explicit(&brought_nothing, memory_order_relaxed) < 256;
}

/* An update may have brought other kernels in. */
static CUresult updated(CUresult r, CUgraphExec exec, CUgraph graph, const char *entry_point)
{
	struct kernels k = {.count = 0};

	if (r == CUDA_SUCCESS && gmod_on() && HAVE(cuGraphKernelNodeGetParams_v2) && is_looked_at()) {
		collect(&k, graph, 0);
		add_unknown(&k);
		if (gmod_graph_learn_more(gmod_handle(exec), k.function, k.count))
			atomic_store_explicit(&brought_nothing, 0, memory_order_relaxed);
		else
			atomic_fetch_add_explicit(&brought_nothing, 1, memory_order_relaxed);
	}
	return gmod_done(r, entry_point);
}

/* One node has, to this function or that kernel. */
static CUresult node_updated(CUresult r, CUgraphExec exec, CUfunction function, CUkernel kernel,
			     const char *entry_point)
{
	struct kernels k = {.count = 0};

	if (r == CUDA_SUCCESS && gmod_on()) {
		add(&k, function ? (const void *)function : (const void *)kernel);
		gmod_graph_learn_more(gmod_handle(exec), k.function, k.count);
	}
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
				       CUgraphExecUpdateResult *updateResult_out)
{
	return updated(NEXT(cuGraphExecUpdate)(hGraphExec, hGraph, hErrorNode_out, updateResult_out), hGraphExec,
		       hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
					  CUgraphExecUpdateResultInfo *resultInfo)
{
	return updated(NEXT(cuGraphExecUpdate_v2)(hGraphExec, hGraph, resultInfo), hGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						    const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	CUresult r = NEXT(cuGraphExecKernelNodeSetParams)(hGraphExec, hNode, nodeParams);

	if (r != CUDA_SUCCESS)
		return gmod_done(r, __func__);
	return node_updated(r, hGraphExec, nodeParams->func, NULL, __func__);
}

GMOD_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
						       const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	CUresult r = NEXT(cuGraphExecKernelNodeSetParams_v2)(hGraphExec, hNode, nodeParams);

	if (r != CUDA_SUCCESS)
		return gmod_done(r, __func__);
	return node_updated(r, hGraphExec, nodeParams->func, nodeParams->kern, __func__);
}

GMOD_EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
	return updated(NEXT(cuGraphExecChildGraphNodeSetParams)(hGraphExec, hNode, childGraph), hGraphExec, childGraph,
		       __func__);
}

GMOD_EXPORT CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
	CUresult r = NEXT(cuGraphExecNodeSetParams)(hGraphExec, hNode, nodeParams);

	if (r == CUDA_SUCCESS && nodeParams->type == CU_GRAPH_NODE_TYPE_KERNEL)
		return node_updated(r, hGraphExec, nodeParams->kernel.func, nodeParams->kernel.kern, __func__);
	if (r == CUDA_SUCCESS && nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
		return updated(r, hGraphExec, nodeParams->graph.graph, __func__);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	return gmod_done(NEXT(cuGraphExecDestroy)(hGraphExec), __func__);
}
