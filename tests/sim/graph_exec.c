/* Instantiated graphs: a clone of the graph, flattened into one piece of work at every launch. */
#include "sim.h"

#include <stdlib.h>

struct CUgraphExec_st {
	enum magic magic;
	CUgraph graph;
};

static bool exec_ok(CUgraphExec exec)
{
	return exec && exec->magic == MAGIC_EXEC;
}

CUgraph exec_graph(CUgraphExec exec)
{
	return exec_ok(exec) ? exec->graph : NULL;
}

CUgraphNode exec_node(CUgraphExec exec, CUgraphNode origin)
{
	if (!exec_ok(exec))
		return NULL;
	for (size_t i = 0; i < exec->graph->count; i++)
		if (exec->graph->nodes[i]->origin == origin)
			return exec->graph->nodes[i];
	return NULL;
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph)
{
	CUgraphExec exec;

	if (!out || !graph_ok(graph))
		return CUDA_ERROR_INVALID_VALUE;
	exec = calloc(1, sizeof(*exec));
	exec->magic = MAGIC_EXEC;
	exec->graph = graph_clone(graph);
	*out = exec;
	return CUDA_SUCCESS;
}

ENTRY(cuGraphInstantiateWithFlags, NEEDS_INIT, TAKES(CUgraphExec *out, CUgraph graph, unsigned long long flags),
      refuse_if(flags & ~0xfull, CUDA_ERROR_INVALID_VALUE) ?: instantiate(out, graph))

#define INSTANTIATES(symbol) \
	ENTRY(symbol, NEEDS_INIT, TAKES(CUgraphExec *out, CUgraph graph, CUgraphNode *error, char *log, size_t size), \
	      instantiate(out, graph))

INSTANTIATES(cuGraphInstantiate)
INSTANTIATES(cuGraphInstantiate_v2)

static CUresult instantiate_with(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	CUresult r = params ? instantiate(out, graph) : CUDA_ERROR_INVALID_VALUE;

	if (params) {
		params->hErrNode_out = NULL;
		params->result_out = r ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
	}
	return r;
}

ENTRY_TWINS(cuGraphInstantiateWithParams, _ptsz, NEEDS_INIT,
	    TAKES(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
	    instantiate_with(out, graph, params))

static CUresult destroy(CUgraphExec exec)
{
	if (!exec_ok(exec))
		return CUDA_ERROR_INVALID_VALUE;
	graph_free(exec->graph);
	exec->magic = 0;
	free(exec);
	return CUDA_SUCCESS;
}

ENTRY(cuGraphExecDestroy, NEEDS_INIT, TAKES(CUgraphExec hGraphExec), destroy(hGraphExec))

static CUresult launch(CUcontext ctx, CUgraphExec exec, CUstream handle, bool per_thread)
{
	CUstream stream = stream_of(ctx, handle, per_thread);
	struct work work;
	CUresult r;

	if (!exec_ok(exec))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream && stream->capture)
		return capture_refuse(stream); /* a graph is no work that a capture takes */
	r = graph_flatten(exec->graph, &work);
	if (r) {
		work_clear(&work);
		return r;
	}
	return stream_do(ctx, handle, per_thread, &work);
}

ENTRY_TWINS(cuGraphLaunch, _ptsz, NEEDS_CONTEXT, TAKES(CUgraphExec hGraphExec, CUstream hStream),
	    launch(c.ctx, hGraphExec, hStream, c.per_thread))
