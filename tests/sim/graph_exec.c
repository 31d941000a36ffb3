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

CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
			    size_t bufferSize)
{
	struct call c = ENTER(cuGraphInstantiate, NEEDS_INIT);

	if (!c.refused && phErrorNode)
		*phErrorNode = NULL;
	if (!c.refused && logBuffer && bufferSize)
		*logBuffer = 0;
	return sim_leave(&c, c.refused ?: instantiate(phGraphExec, hGraph));
}

CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
			       size_t bufferSize)
{
	struct call c = ENTER(cuGraphInstantiate_v2, NEEDS_INIT);

	if (!c.refused && phErrorNode)
		*phErrorNode = NULL;
	if (!c.refused && logBuffer && bufferSize)
		*logBuffer = 0;
	return sim_leave(&c, c.refused ?: instantiate(phGraphExec, hGraph));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
	struct call c = ENTER(cuGraphInstantiateWithFlags, NEEDS_INIT);

	if (!c.refused && (flags & ~0xfull))
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(&c, c.refused ?: instantiate(phGraphExec, hGraph));
}

static CUresult instantiate_params(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	params->hErrNode_out = NULL;
	params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return instantiate(out, graph);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	struct call c = ENTER(cuGraphInstantiateWithParams, NEEDS_INIT);

	return sim_leave(&c, c.refused ?: instantiate_params(phGraphExec, hGraph, instantiateParams));
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
					   CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	struct call c = ENTER(cuGraphInstantiateWithParams_ptsz, NEEDS_INIT);

	return sim_leave(&c, c.refused ?: instantiate_params(phGraphExec, hGraph, instantiateParams));
}

static CUresult destroy(CUgraphExec exec)
{
	if (!exec_ok(exec))
		return CUDA_ERROR_INVALID_VALUE;
	graph_free(exec->graph);
	exec->magic = 0;
	free(exec);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	struct call c = ENTER(cuGraphExecDestroy, NEEDS_INIT);

	return sim_leave(&c, c.refused ?: destroy(hGraphExec));
}

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

CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
	struct call c = ENTER(cuGraphLaunch, NEEDS_CONTEXT);

	return sim_leave(&c, c.refused ?: launch(c.ctx, hGraph, hStream, false));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
	struct call c = ENTER(cuGraphLaunch_ptsz, NEEDS_CONTEXT);

	return sim_leave(&c, c.refused ?: launch(c.ctx, hGraphExec, hStream, true));
}

CUresult cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
	struct call c = ENTER(cuGraphUpload, NEEDS_CONTEXT);

	if (!c.refused && (!exec_ok(hGraph) || !stream_of(c.ctx, hStream, false)))
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(&c, c.refused);
}

CUresult cuGraphUpload_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
	struct call c = ENTER(cuGraphUpload_ptsz, NEEDS_CONTEXT);

	if (!c.refused && (!exec_ok(hGraphExec) || !stream_of(c.ctx, hStream, true)))
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(&c, c.refused);
}
