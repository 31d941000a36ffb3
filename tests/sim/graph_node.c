/* Adding nodes to a graph by hand, kind by kind, and the parameters of kernel nodes. */
#include "sim.h"

#include <string.h>

/* Where a node is to go. */
struct place {
	CUgraphNode *out;
	CUgraph graph;
	const CUgraphNode *deps;
	size_t count;
};

static CUresult check(const struct place *at)
{
	if (!at->out || !graph_ok(at->graph) || (at->count && !at->deps))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < at->count; i++)
		if (!node_ok(at->deps[i]) || at->deps[i]->graph != at->graph)
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult add(const struct place *at, CUgraphNodeType type, struct work *work)
{
	*at->out = graph_add(at->graph, type, work, at->deps, at->count);
	return CUDA_SUCCESS;
}

static CUresult kernel_params_work(CUcontext ctx, const CUDA_KERNEL_NODE_PARAMS *p, struct work *out)
{
	unsigned grid[3], block[3];

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(grid, (unsigned[]){p->gridDimX, p->gridDimY, p->gridDimZ}, sizeof(grid));
	memcpy(block, (unsigned[]){p->blockDimX, p->blockDimY, p->blockDimZ}, sizeof(block));
	return kernel_work(ctx, p->func ? p->func : (CUfunction)p->kern, grid, block, p->sharedMemBytes,
			   p->kernelParams, p->extra, out);
}

static CUresult add_kernel(CUcontext ctx, const struct place *at, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct work work;

	return check(at) ?: kernel_params_work(ctx, p, &work) ?: add(at, CU_GRAPH_NODE_TYPE_KERNEL, &work);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
				 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	struct call c = ENTER(cuGraphAddKernelNode_v2, NEEDS_CONTEXT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	return sim_leave(&c, c.refused ?: add_kernel(c.ctx, &at, nodeParams));
}

static CUresult add_copy(const struct place *at, const CUDA_MEMCPY3D *p)
{
	struct work work;
	CUresult r = check(at);

	if (!r && !p)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: copy_work_3d(p, &work) ?: add(at, CU_GRAPH_NODE_TYPE_MEMCPY, &work);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
			      size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
	struct call c = ENTER(cuGraphAddMemcpyNode, NEEDS_INIT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	if (!c.refused && !context_ok(ctx))
		c.refused = CUDA_ERROR_INVALID_CONTEXT;
	return sim_leave(&c, c.refused ?: add_copy(&at, copyParams));
}

static CUresult add_set(const struct place *at, CUdeviceptr dst, size_t pitch, unsigned element, unsigned value,
			size_t width, size_t height)
{
	struct work work;
	CUresult r = check(at);

	if (!r && element != 1 && element != 2 && element != 4)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: set_work(dst, pitch, element, value, width, height, &work)
				    ?: add(at, CU_GRAPH_NODE_TYPE_MEMSET, &work);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
			      size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
	struct call c = ENTER(cuGraphAddMemsetNode, NEEDS_INIT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};
	const CUDA_MEMSET_NODE_PARAMS *p = memsetParams;

	if (!c.refused && !context_ok(ctx))
		c.refused = CUDA_ERROR_INVALID_CONTEXT;
	if (!c.refused && !p)
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(&c,
			 c.refused ?: add_set(&at, p->dst, p->pitch, p->elementSize, p->value, p->width, p->height));
}

static CUresult add_host(const struct place *at, CUhostFn fn, void *data)
{
	struct work work = {.kind = WORK_HOST, .host = {fn, data}};
	CUresult r = check(at);

	if (!r && !fn)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: add(at, CU_GRAPH_NODE_TYPE_HOST, &work);
}

CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
			    size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	struct call c = ENTER(cuGraphAddHostNode, NEEDS_INIT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	if (!c.refused && !nodeParams)
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(&c, c.refused ?: add_host(&at, nodeParams->fn, nodeParams->userData));
}

static CUresult add_empty(const struct place *at)
{
	struct work work = {.kind = WORK_NONE};

	return check(at) ?: add(at, CU_GRAPH_NODE_TYPE_EMPTY, &work);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
			     size_t numDependencies)
{
	struct call c = ENTER(cuGraphAddEmptyNode, NEEDS_INIT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	return sim_leave(&c, c.refused ?: add_empty(&at));
}

static CUresult add_child(const struct place *at, CUgraph child)
{
	CUresult r = graph_has_memory(child) ? CUDA_ERROR_NOT_SUPPORTED : add_empty(at);

	if (r)
		return r;
	(*at->out)->type = CU_GRAPH_NODE_TYPE_GRAPH;
	(*at->out)->child = graph_clone(child);
	(*at->out)->child->owned = true;
	return CUDA_SUCCESS;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
				  size_t numDependencies, CUgraph childGraph)
{
	struct call c = ENTER(cuGraphAddChildGraphNode, NEEDS_INIT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	if (!c.refused && !graph_ok(childGraph))
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(&c, c.refused ?: add_child(&at, childGraph));
}

static CUresult add_alloc(CUcontext ctx, const struct place *at, const CUmemPoolProps *props, size_t bytes,
			  CUdeviceptr *out)
{
	struct work work = {.kind = WORK_ALLOC};
	CUresult r = check(at);

	if (!r && (!bytes || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !device_exists(props->location.id)))
		r = CUDA_ERROR_INVALID_VALUE;
	r = r ?: graph_reserve(ctx, props->location.id, bytes, out);
	if (r)
		return r;
	work.memory = *out;
	return add(at, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &work);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
				size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
	struct call c = ENTER(cuGraphAddMemAllocNode, NEEDS_CONTEXT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	if (!c.refused && !nodeParams)
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(
	    &c, c.refused ?: add_alloc(c.ctx, &at, &nodeParams->poolProps, nodeParams->bytesize, &nodeParams->dptr));
}

static CUresult add_free(const struct place *at, CUdeviceptr dptr)
{
	struct work work = {.kind = WORK_FREE, .memory = dptr};
	CUresult r = check(at);

	if (!r && !dptr)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: add(at, CU_GRAPH_NODE_TYPE_MEM_FREE, &work);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
			       size_t numDependencies, CUdeviceptr dptr)
{
	struct call c = ENTER(cuGraphAddMemFreeNode, NEEDS_INIT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	return sim_leave(&c, c.refused ?: add_free(&at, dptr));
}

static CUresult add_any(CUcontext ctx, const struct place *at, CUgraphNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS kernel;

	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		memcpy(&kernel, &p->kernel, sizeof(kernel)); /* v2 and v3 are laid out alike */
		return add_kernel(ctx, at, &kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return add_copy(at, &p->memcpy.copyParams);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return add_set(at, p->memset.dst, p->memset.pitch, p->memset.elementSize, p->memset.value,
			       p->memset.width, p->memset.height);
	case CU_GRAPH_NODE_TYPE_HOST:
		return add_host(at, p->host.fn, p->host.userData);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return graph_ok(p->graph.graph) ? add_child(at, p->graph.graph) : CUDA_ERROR_INVALID_VALUE;
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return add_empty(at);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return add_alloc(ctx, at, &p->alloc.poolProps, p->alloc.bytesize, &p->alloc.dptr);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return add_free(at, p->free.dptr);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
			size_t numDependencies, CUgraphNodeParams *nodeParams)
{
	struct call c = ENTER(cuGraphAddNode, NEEDS_CONTEXT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	if (!c.refused && !nodeParams)
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(&c, c.refused ?: add_any(c.ctx, &at, nodeParams));
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
			   const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams)
{
	struct call c = ENTER(cuGraphAddNode_v2, NEEDS_CONTEXT);
	struct place at = {phGraphNode, hGraph, dependencies, numDependencies};

	if (!c.refused && !nodeParams)
		c.refused = CUDA_ERROR_INVALID_VALUE;
	if (!c.refused && dependencyData)
		c.refused = CUDA_ERROR_NOT_SUPPORTED;
	return sim_leave(&c, c.refused ?: add_any(c.ctx, &at, nodeParams));
}

/* Kernel nodes. */

static CUresult get_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out)
{
	struct work_kernel *k;

	if (!node_ok(node) || node->work.kind != WORK_KERNEL || !out)
		return CUDA_ERROR_INVALID_VALUE;
	k = &node->work.kernel;
	*out = (CUDA_KERNEL_NODE_PARAMS){
	    .func = k->function,
	    .gridDimX = k->grid[0],
	    .gridDimY = k->grid[1],
	    .gridDimZ = k->grid[2],
	    .blockDimX = k->block[0],
	    .blockDimY = k->block[1],
	    .blockDimZ = k->block[2],
	    .sharedMemBytes = k->shared,
	    .kernelParams = k->pointers,
	};
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	struct call c = ENTER(cuGraphKernelNodeGetParams_v2, NEEDS_INIT);

	return sim_leave(&c, c.refused ?: get_params(hNode, nodeParams));
}

static CUresult set_params(CUcontext ctx, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct work work;
	CUresult r;

	if (!node_ok(node) || node->work.kind != WORK_KERNEL)
		return CUDA_ERROR_INVALID_VALUE;
	r = kernel_params_work(ctx, p, &work);
	if (r)
		return r;
	node->work = work;
	kernel_point(&node->work.kernel);
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	struct call c = ENTER(cuGraphKernelNodeSetParams_v2, NEEDS_CONTEXT);

	return sim_leave(&c, c.refused ?: set_params(c.ctx, hNode, nodeParams));
}

/* The instantiated graph is a clone; its node remembers which one it was made from. */
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
					   const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	struct call c = ENTER(cuGraphExecKernelNodeSetParams_v2, NEEDS_CONTEXT);
	CUgraphNode node = c.refused ? NULL : exec_node(hGraphExec, hNode);

	return sim_leave(&c, c.refused ?: set_params(c.ctx, node, nodeParams));
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	struct call c = ENTER(cuGraphExecKernelNodeSetParams, NEEDS_CONTEXT);
	CUgraphNode node = c.refused ? NULL : exec_node(hGraphExec, hNode);
	CUDA_KERNEL_NODE_PARAMS p = {0};

	if (!c.refused && nodeParams)
		memcpy(&p, nodeParams, sizeof(*nodeParams)); /* the newer one begins the same */
	return sim_leave(&c, c.refused ?: set_params(c.ctx, node, nodeParams ? &p : NULL));
}

/* Of kernels only. */
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
	struct call c = ENTER(cuGraphExecNodeSetParams, NEEDS_CONTEXT);
	CUgraphNode node = c.refused ? NULL : exec_node(hGraphExec, hNode);
	CUDA_KERNEL_NODE_PARAMS p = {0};

	if (!c.refused && (!nodeParams || nodeParams->type != CU_GRAPH_NODE_TYPE_KERNEL))
		c.refused = CUDA_ERROR_INVALID_VALUE;
	if (!c.refused)
		memcpy(&p, &nodeParams->kernel, sizeof(p)); /* the same but for how a context is named */
	return sim_leave(&c, c.refused ?: set_params(c.ctx, node, &p));
}
