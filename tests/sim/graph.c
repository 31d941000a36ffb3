/* Graphs: nodes of work in order of creation, adding them, looking at them. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

bool graph_ok(CUgraph graph)
{
	return graph && graph->magic == MAGIC_GRAPH;
}

bool node_ok(CUgraphNode node)
{
	return node && node->magic == MAGIC_NODE;
}

CUgraph graph_new(void)
{
	CUgraph graph = calloc(1, sizeof(*graph));

	graph->magic = MAGIC_GRAPH;
	sim.held.graphs++;
	return graph;
}

static void node_free(CUgraphNode node)
{
	if (node->child)
		graph_free(node->child);
	work_clear(&node->work);
	node->magic = 0;
	free(node->deps);
	free(node);
}

void graph_free(CUgraph graph)
{
	for (size_t i = 0; i < graph->count; i++)
		node_free(graph->nodes[i]);
	graph->magic = 0;
	sim.held.graphs--;
	free(graph->nodes);
	free(graph);
}

bool nodes_are_of(CUgraph graph, const CUgraphNode *nodes, size_t count)
{
	if (!graph_ok(graph) || (count && !nodes))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!node_ok(nodes[i]) || nodes[i]->graph != graph)
			return false;
	return true;
}

/* Takes over the work. */
CUgraphNode graph_add(CUgraph graph, CUgraphNodeType type, struct work *work, const CUgraphNode *deps, size_t count)
{
	CUgraphNode node = calloc(1, sizeof(*node));

	node->magic = MAGIC_NODE;
	node->type = type;
	node->graph = graph;
	node->work = *work;
	if (work->kind == WORK_KERNEL)
		kernel_point(&node->work.kernel);
	node->deps = calloc(count ? count : 1, sizeof(*node->deps));
	node->dep_count = count;
	if (count)
		memcpy(node->deps, deps, count * sizeof(*node->deps));
	graph->nodes = realloc(graph->nodes, (graph->count + 1) * sizeof(*graph->nodes));
	graph->nodes[graph->count++] = node;
	return node;
}

static CUgraphNode counterpart(CUgraph clone, CUgraphNode origin)
{
	for (size_t i = 0; i < clone->count; i++)
		if (clone->nodes[i]->origin == origin)
			return clone->nodes[i];
	return NULL;
}

CUgraph graph_clone(CUgraph graph)
{
	CUgraph clone = graph_new();

	for (size_t i = 0; i < graph->count; i++) {
		CUgraphNode from = graph->nodes[i], to;
		struct work work;

		work_clone(&work, &from->work);
		to = graph_add(clone, from->type, &work, from->deps, from->dep_count);
		to->origin = from;
		for (size_t d = 0; d < to->dep_count; d++)
			to->deps[d] = counterpart(clone, from->deps[d]);
		if (from->child) {
			to->child = graph_clone(from->child);
			to->child->owned = true;
		}
	}
	return clone;
}

/* Such a graph cannot be a child. */
bool graph_has_memory(CUgraph graph)
{
	for (size_t i = 0; i < graph->count; i++)
		if (graph->nodes[i]->work.kind == WORK_ALLOC || graph->nodes[i]->work.kind == WORK_FREE)
			return true;
	return false;
}

/* The whole graph, children included, as one piece of work: one node after another is one of its orders. */
CUresult graph_flatten(CUgraph graph, struct work *out)
{
	*out = (struct work){.kind = WORK_GRAPH};
	out->graph.list = calloc(graph->count ? graph->count : 1, sizeof(*out->graph.list));
	if (!out->graph.list)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (; out->graph.count < graph->count; out->graph.count++) {
		CUgraphNode node = graph->nodes[out->graph.count];
		struct work *slot = &out->graph.list[out->graph.count];
		CUresult r = node->child ? graph_flatten(node->child, slot) : work_clone(slot, &node->work);

		if (r)
			return r;
	}
	return CUDA_SUCCESS;
}

ENTRY(cuGraphCreate, NEEDS_INIT, TAKES(CUgraph *phGraph, unsigned int flags),
      ANSWER_OF(!flags, CUDA_ERROR_INVALID_VALUE, phGraph, graph_new()))

static CUresult destroy(CUgraph graph)
{
	if (!graph_ok(graph) || graph->owned)
		return CUDA_ERROR_INVALID_VALUE;
	graph_free(graph);
	return CUDA_SUCCESS;
}

ENTRY(cuGraphDestroy, NEEDS_INIT, TAKES(CUgraph hGraph), destroy(hGraph))

static CUresult list_nodes(CUgraph graph, CUgraphNode *out, size_t *count)
{
	size_t n = 0;

	if (!graph_ok(graph) || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < graph->count; i++) {
		if (out && n < *count)
			out[n] = graph->nodes[i];
		n++;
	}
	for (size_t i = n; out && i < *count; i++)
		out[i] = NULL;
	*count = out && n > *count ? *count : n;
	return CUDA_SUCCESS;
}

ENTRY(cuGraphGetNodes, NEEDS_INIT, TAKES(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes),
      list_nodes(hGraph, nodes, numNodes))
ENTRY(cuGraphNodeGetType, NEEDS_INIT, TAKES(CUgraphNode hNode, CUgraphNodeType *type),
      ANSWER_OF(node_ok(hNode), CUDA_ERROR_INVALID_VALUE, type, hNode->type))
ENTRY(cuGraphChildGraphNodeGetGraph, NEEDS_INIT, TAKES(CUgraphNode hNode, CUgraph *phGraph),
      ANSWER_OF(node_ok(hNode) && hNode->child, CUDA_ERROR_INVALID_VALUE, phGraph, hNode->child))
