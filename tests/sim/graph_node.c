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

/* What takes a place, and more; `does` may name the place as AT. */
#define AT ((struct place){out, graph, deps, count})
#define ADDS(symbol, needs, does, ...) \
	ENTRY(symbol, needs, \
	      TAKES(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count, ##__VA_ARGS__), does)

static CUresult check(struct place at)
{
	return at.out && nodes_are_of(at.graph, at.deps, at.count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult add(struct place at, CUgraphNodeType type, struct work *work)
{
	*at.out = graph_add(at.graph, type, work, at.deps, at.count);
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

static CUresult add_kernel(CUcontext ctx, struct place at, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct work work;

	return check(at) ?: kernel_params_work(ctx, p, &work) ?: add(at, CU_GRAPH_NODE_TYPE_KERNEL, &work);
}

ADDS(cuGraphAddKernelNode_v2, NEEDS_CONTEXT, add_kernel(c.ctx, AT, nodeParams),
     const CUDA_KERNEL_NODE_PARAMS *nodeParams)

static CUresult add_copy(struct place at, const CUDA_MEMCPY3D *p)
{
	struct work work;
	CUresult r = check(at);

	if (!r && !p)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: copy_work_3d(p, &work) ?: add(at, CU_GRAPH_NODE_TYPE_MEMCPY, &work);
}

ADDS(cuGraphAddMemcpyNode, NEEDS_INIT,
     refuse_if(!context_ok(ctx), CUDA_ERROR_INVALID_CONTEXT) ?: add_copy(AT, copyParams),
     const CUDA_MEMCPY3D *copyParams, CUcontext ctx)

static CUresult add_set(struct place at, CUdeviceptr dst, size_t pitch, unsigned element, unsigned value, size_t width,
			size_t height)
{
	struct work work;
	CUresult r = check(at);

	if (!r && element != 1 && element != 2 && element != 4)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: set_work(dst, pitch, element, value, width, height, &work)
				    ?: add(at, CU_GRAPH_NODE_TYPE_MEMSET, &work);
}

static CUresult add_set_as(struct place at, const CUDA_MEMSET_NODE_PARAMS *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	return add_set(at, p->dst, p->pitch, p->elementSize, p->value, p->width, p->height);
}

ADDS(cuGraphAddMemsetNode, NEEDS_INIT,
     refuse_if(!context_ok(ctx), CUDA_ERROR_INVALID_CONTEXT) ?: add_set_as(AT, params),
     const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)

static CUresult add_empty(struct place at)
{
	struct work work = {.kind = WORK_NONE};

	return check(at) ?: add(at, CU_GRAPH_NODE_TYPE_EMPTY, &work);
}

ADDS(cuGraphAddEmptyNode, NEEDS_INIT, add_empty(AT))

static CUresult add_child(struct place at, CUgraph child)
{
	CUresult r = graph_has_memory(child) ? CUDA_ERROR_NOT_SUPPORTED : add_empty(at);

	if (r)
		return r;
	(*at.out)->type = CU_GRAPH_NODE_TYPE_GRAPH;
	(*at.out)->child = graph_clone(child);
	(*at.out)->child->owned = true;
	return CUDA_SUCCESS;
}

ADDS(cuGraphAddChildGraphNode, NEEDS_INIT,
     refuse_if(!graph_ok(childGraph), CUDA_ERROR_INVALID_VALUE) ?: add_child(AT, childGraph), CUgraph childGraph)

static CUresult add_alloc(CUcontext ctx, struct place at, const CUmemPoolProps *props, size_t bytes, CUdeviceptr *out)
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

ADDS(cuGraphAddMemAllocNode, NEEDS_CONTEXT,
     refuse_if(!nodeParams, CUDA_ERROR_INVALID_VALUE)
	 ?: add_alloc(c.ctx, AT, &nodeParams->poolProps, nodeParams->bytesize, &nodeParams->dptr),
     CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)

static CUresult add_free(struct place at, CUdeviceptr dptr)
{
	struct work work = {.kind = WORK_FREE, .memory = dptr};
	CUresult r = check(at);

	if (!r && !dptr)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: add(at, CU_GRAPH_NODE_TYPE_MEM_FREE, &work);
}

ADDS(cuGraphAddMemFreeNode, NEEDS_INIT, add_free(AT, dptr), CUdeviceptr dptr)

/* Any node: what its type says of the parameters decides. Contexts are the current one here. */
static CUresult add_any(CUcontext ctx, struct place at, CUgraphNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_MEM_ALLOC_NODE_PARAMS_v2 *alloc = p ? &p->alloc : NULL;

	switch (p ? p->type : CU_GRAPH_NODE_TYPE_CONDITIONAL) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		memcpy(&kernel, &p->kernel, sizeof(kernel));
		return add_kernel(ctx, at, &kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return add_copy(at, &p->memcpy.copyParams);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return add_set(at, p->memset.dst, p->memset.pitch, p->memset.elementSize, p->memset.value,
			       p->memset.width, p->memset.height);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return add_empty(at);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return graph_ok(p->graph.graph) ? add_child(at, p->graph.graph) : CUDA_ERROR_INVALID_VALUE;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return add_alloc(ctx, at, &alloc->poolProps, alloc->bytesize, &alloc->dptr);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return add_free(at, p->free.dptr);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

ADDS(cuGraphAddNode, NEEDS_CONTEXT, add_any(c.ctx, AT, nodeParams), CUgraphNodeParams *nodeParams)
ENTRY(cuGraphAddNode_v2, NEEDS_CONTEXT,
      TAKES(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, const CUgraphEdgeData *edges, size_t count,
	    CUgraphNodeParams *params),
      add_any(c.ctx, AT, params))
ENTRY(cuGraphAddNode_v3, NEEDS_CONTEXT,
      TAKES(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, const CUgraphEdgeData *edges, size_t count,
	    CUgraphNodeParams *params),
      add_any(c.ctx, AT, params))

/* Kernel nodes. */

/* A kernel that was launched by its handle is said to be its function, of which nobody may have heard (driver 580). */
static CUfunction function_of(CUfunction f)
{
	CUcontext ctx = context_current();

	if (ctx && f->magic == MAGIC_KERNEL && kernel_function(ctx, &f, (CUkernel)f))
		return NULL;
	return f;
}

static CUresult get_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out)
{
	struct work_kernel *k;

	if (!node_ok(node) || node->work.kind != WORK_KERNEL || !out)
		return CUDA_ERROR_INVALID_VALUE;
	k = &node->work.kernel;
	*out = (CUDA_KERNEL_NODE_PARAMS){
	    .func = function_of(k->function),
	    .kern = k->function->magic == MAGIC_KERNEL ? (CUkernel)k->function : NULL,
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

ENTRY(cuGraphKernelNodeGetParams_v2, NEEDS_INIT, TAKES(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams),
      get_params(hNode, nodeParams))

/* Clusters are the only attribute. */
static CUresult attribute(CUgraphNode node, CUkernelNodeAttrID attr, CUkernelNodeAttrValue *out,
			  const CUkernelNodeAttrValue *in)
{
	if (!node_ok(node) || node->work.kind != WORK_KERNEL || (!out && !in) ||
	    attr != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
		return CUDA_ERROR_INVALID_VALUE;
	if (in)
		node->work.kernel.cluster = *in;
	if (out)
		*out = node->work.kernel.cluster;
	return CUDA_SUCCESS;
}

ENTRY(cuGraphKernelNodeGetAttribute, NEEDS_INIT,
      TAKES(CUgraphNode hNode, CUkernelNodeAttrID attr, CUkernelNodeAttrValue *value_out),
      attribute(hNode, attr, value_out, NULL))
ENTRY(cuGraphKernelNodeSetAttribute, NEEDS_INIT,
      TAKES(CUgraphNode hNode, CUkernelNodeAttrID attr, const CUkernelNodeAttrValue *value),
      attribute(hNode, attr, NULL, value))

/* The older one ends sooner. */
static CUresult get_older_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
	CUDA_KERNEL_NODE_PARAMS p;
	CUresult r = get_params(node, out ? &p : NULL);

	if (!r)
		memcpy(out, &p, sizeof(*out));
	return r;
}

ENTRY(cuGraphKernelNodeGetParams, NEEDS_INIT, TAKES(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
      get_older_params(hNode, nodeParams))

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

/* The instantiated graph is a clone; its node remembers which one it was made from. */
ENTRY(cuGraphExecKernelNodeSetParams_v2, NEEDS_CONTEXT,
      TAKES(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams),
      set_params(c.ctx, exec_node(hGraphExec, hNode), nodeParams))

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

/* Of kernels and child graphs only. */
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
	struct call c = ENTER(cuGraphExecNodeSetParams, NEEDS_CONTEXT);
	CUgraphNode node = c.refused ? NULL : exec_node(hGraphExec, hNode);
	CUDA_KERNEL_NODE_PARAMS p = {0};

	if (!c.refused && nodeParams && nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
		return sim_leave(&c, exec_set_child(node, nodeParams->graph.graph));
	if (!c.refused && (!nodeParams || nodeParams->type != CU_GRAPH_NODE_TYPE_KERNEL))
		c.refused = CUDA_ERROR_INVALID_VALUE;
	if (!c.refused)
		memcpy(&p, &nodeParams->kernel, sizeof(p)); /* the same but for how a context is named */
	return sim_leave(&c, c.refused ?: set_params(c.ctx, node, &p));
}
