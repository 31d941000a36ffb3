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

static CUresult instantiate_and_tell(CUgraphExec *out, CUgraph graph, CUgraphNode *wrong, char *log, size_t log_size)
{
	if (wrong)
		*wrong = NULL;
	if (log && log_size)
		*log = 0;
	return instantiate(out, graph);
}

ENTRY(cuGraphInstantiate, NEEDS_INIT,
      TAKES(CUgraphExec *out, CUgraph graph, CUgraphNode *wrong, char *log, size_t size),
      instantiate_and_tell(out, graph, wrong, log, size))
ENTRY(cuGraphInstantiate_v2, NEEDS_INIT,
      TAKES(CUgraphExec *out, CUgraph graph, CUgraphNode *wrong, char *log, size_t size),
      instantiate_and_tell(out, graph, wrong, log, size))
ENTRY(cuGraphInstantiateWithFlags, NEEDS_INIT,
      TAKES(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags),
      refuse_if(flags & ~0xfull, CUDA_ERROR_INVALID_VALUE) ?: instantiate(phGraphExec, hGraph))

static CUresult instantiate_params(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	params->hErrNode_out = NULL;
	params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return instantiate(out, graph);
}

ENTRY_TWINS(cuGraphInstantiateWithParams, _ptsz, NEEDS_INIT,
	    TAKES(CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams),
	    instantiate_params(phGraphExec, hGraph, instantiateParams))

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
ENTRY_TWINS(cuGraphUpload, _ptsz, NEEDS_CONTEXT, TAKES(CUgraphExec hGraphExec, CUstream hStream),
	    refuse_if(!exec_ok(hGraphExec) || !stream_of(c.ctx, hStream, c.per_thread), CUDA_ERROR_INVALID_VALUE))
