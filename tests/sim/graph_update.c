/*
 * Changing a graph that is instantiated: to the nodes of another of the same shape, or node by node.
 *
 * Measured on driver 580: a copy cannot be moved from memory that is a context's to memory that is none's, or back.
 */
#include "sim.h"

static bool other_owners(const struct work *was, const struct work *is)
{
	return was->kind == WORK_COPY &&
	       (block_is_of_no_context(was->copy.dst) != block_is_of_no_context(is->copy.dst) ||
		block_is_of_no_context(was->copy.src) != block_is_of_no_context(is->copy.src));
}

static size_t position(CUgraph graph, CUgraphNode node)
{
	size_t i = 0;

	while (i < graph->count && graph->nodes[i] != node)
		i++;
	return i;
}

static bool same_dependencies(CUgraph was, size_t at, CUgraph is)
{
	CUgraphNode a = was->nodes[at], b = is->nodes[at];

	if (a->dep_count != b->dep_count)
		return false;
	for (size_t i = 0; i < a->dep_count; i++)
		if (position(was, a->deps[i]) != position(is, b->deps[i]))
			return false;
	return true;
}

static CUgraphExecUpdateResult compare(CUgraph was, CUgraph is)
{
	CUgraphExecUpdateResult r = CU_GRAPH_EXEC_UPDATE_SUCCESS;

	if (was->count != is->count)
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (size_t i = 0; !r && i < was->count; i++) {
		CUgraphNode a = was->nodes[i], b = is->nodes[i];

		if (!same_dependencies(was, i, is))
			r = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		else if (a->type != b->type)
			r = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
		else if (other_owners(&a->work, &b->work))
			r = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
		else if (a->child)
			r = compare(a->child, b->child);
	}
	return r;
}

static void take_over(CUgraph was, CUgraph is)
{
	for (size_t i = 0; i < was->count; i++) {
		CUgraphNode node = was->nodes[i];

		if (node->child) {
			take_over(node->child, is->nodes[i]->child);
			continue;
		}
		work_clear(&node->work);
		work_clone(&node->work, &is->nodes[i]->work);
		if (node->work.kind == WORK_KERNEL)
			kernel_point(&node->work.kernel);
	}
}

static CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResult *result)
{
	CUgraph was = exec_graph(exec);

	if (!was || !graph_ok(graph) || !result)
		return CUDA_ERROR_INVALID_VALUE;
	*result = compare(was, graph);
	if (*result)
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	take_over(was, graph);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
			   CUgraphExecUpdateResult *updateResult_out)
{
	struct call c = ENTER(cuGraphExecUpdate, NEEDS_INIT);

	if (!c.refused && hErrorNode_out)
		*hErrorNode_out = NULL;
	return sim_leave(&c, c.refused ?: update(hGraphExec, hGraph, updateResult_out));
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
	struct call c = ENTER(cuGraphExecUpdate_v2, NEEDS_INIT);

	if (!c.refused && resultInfo)
		*resultInfo = (CUgraphExecUpdateResultInfo){0};
	return sim_leave(&c, c.refused ?: update(hGraphExec, hGraph, resultInfo ? &resultInfo->result : NULL));
}

CUresult exec_set_child(CUgraphNode node, CUgraph child)
{
	if (!node || !node->child || !graph_ok(child) || compare(node->child, child))
		return CUDA_ERROR_INVALID_VALUE;
	take_over(node->child, child);
	return CUDA_SUCCESS;
}

ENTRY(cuGraphExecChildGraphNodeSetParams, NEEDS_INIT,
      TAKES(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph),
      exec_set_child(exec_node(hGraphExec, hNode), childGraph))

static CUresult set_copy(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
	struct work work;
	CUresult r;

	if (!node || node->work.kind != WORK_COPY || !p)
		return CUDA_ERROR_INVALID_VALUE;
	r = copy_work_3d(p, &work);
	if (!r && other_owners(&node->work, &work))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		node->work = work;
	return r;
}

ENTRY(cuGraphExecMemcpyNodeSetParams, NEEDS_INIT,
      TAKES(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
      refuse_if(!context_ok(ctx), CUDA_ERROR_INVALID_CONTEXT) ?: set_copy(exec_node(hGraphExec, hNode), copyParams))
