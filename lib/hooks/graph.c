/* Graphs: which kernels an executable graph runs, learned when it is made; and the end of a capture. */
#include <stdbool.h>

#include "lib/hooks/family.h"
#include "lib/hooks/journal.h"
#include "lib/hooks/parameters.h"
#include "lib/base/facts.h"
#include "lib/base/map.h"
#include "monitor/launches/graphs.h"
#include "monitor/launches/history.h"
#include "monitor/launches/names.h"

enum { KERNELS = GMOD_GRAPH_NAMES, WORDS = 65536, NODES = 65536, DEPTH = 4 };

struct kernels {
	uint64_t function[KERNELS + 1];
	const struct gmod_signature *signature[KERNELS + 1];
	unsigned count;
	struct gmod_graph_word *word; /* room for WORDS; NULL: they are not read */
	size_t words;
	bool unread; /* some are not among these */
	bool more;   /* that are not among these */
};

/*
 * A node that was captured from the launch of a kernel has a function that the program never asked for (driver 580),
 * whose handle may have been another's before, and the kernel.
 */
static void ask_name(CUfunction function, CUkernel kernel)
{
	const char *name = NULL;
	CUresult r = CUDA_SUCCESS;

	if (function && kernel && gmod_name_of(gmod_handle(kernel), GMOD_LATEST)) {
		gmod_name_learn_as(gmod_handle(function), gmod_handle(kernel));
		return;
	}
	if (function && HAVE(cuFuncGetName))
		r = NEXT(cuFuncGetName)(&name, function);
	else if (kernel && HAVE(cuKernelGetName))
		r = NEXT(cuKernelGetName)(&name, kernel);
	if (gmod_succeeded(r, "asking a graph's kernel for its name") && name)
		gmod_name_learn(function ? gmod_handle(function) : gmod_handle(kernel), name, 0);
}

/* Its place among them; KERNELS: it has none. */
static unsigned add(struct kernels *k, CUfunction function, CUkernel kernel)
{
	uint64_t handle = function ? gmod_handle(function) : gmod_handle(kernel);

	for (unsigned i = 0; i < k->count; i++)
		if (k->function[i] == handle)
			return i;
	if (!handle || k->count == KERNELS) {
		k->more = true;
		return KERNELS;
	}
	ask_name(function, kernel);
	k->function[k->count] = handle;
	if (k->word)
		k->signature[k->count] = gmod_parameters_of_node(handle, !function);
	return k->count++;
}

static void add_words(struct kernels *k, const char *name, uint32_t argument, const char *bytes, size_t size)
{
	for (uint32_t at = 0; at + 8 <= size; at += 8) {
		struct gmod_graph_word w = {.name = name, .argument = argument, .byte = at};

		memcpy(&w.word, bytes + at, 8);
		if (!gmod_may_be_address(w.word))
			continue;
		if (k->words == WORDS)
			k->unread = true;
		else
			k->word[k->words++] = w;
	}
}

/* What the node will pass on. The driver copies arguments that came in one buffer, and gives them back as an array. */
static void read_node(struct kernels *k, unsigned kernel, void *const *params)
{
	const struct gmod_signature *s = kernel < KERNELS ? k->signature[kernel] : NULL;
	const char *name = s ? gmod_name_of(k->function[kernel], GMOD_LATEST) : NULL;

	k->unread |= !name || s->is_cut || (s->count && !params);
	for (int i = 0; name && params && i < s->count; i++)
		add_words(k, name, s->at[i].number, params[s->at[i].number], s->at[i].size);
}

static void collect(struct kernels *k, CUgraph graph, int depth);

static void collect_node(struct kernels *k, CUgraphNode node, int depth)
{
	CUDA_KERNEL_NODE_PARAMS_v2 params;
	CUgraphNodeType type;
	unsigned kernel;
	CUgraph child;

	CUresult r = NEXT(cuGraphNodeGetType)(node, &type);

	if (r == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_KERNEL) {
		r = NEXT(cuGraphKernelNodeGetParams_v2)(node, &params);
		if (r == CUDA_SUCCESS && k->word) {
			kernel = add(k, params.func, params.kern);
			read_node(k, kernel, params.kernelParams);
			if (gmod_journal_on() && kernel < KERNELS)
				gmod_journal_node(node, &params, k->function[kernel], k->signature[kernel]);
		} else if (r == CUDA_SUCCESS) {
			add(k, params.func, params.kern);
		}
	} else if (r == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_GRAPH) {
		r = NEXT(cuGraphChildGraphNodeGetGraph)(node, &child);
		if (r == CUDA_SUCCESS)
			collect(k, child, depth + 1);
	} else if (r == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
		k->more = true; /* the driver does not tell of its bodies */
	}
	k->more |= !gmod_succeeded(r, "asking a graph node");
}

static void collect_mapped(struct kernels *k, CUgraph graph, int depth, size_t room)
{
	size_t size = room * sizeof(CUgraphNode), count = room;
	CUgraphNode *list = gmod_map(size);

	if (!list || NEXT(cuGraphGetNodes)(graph, list, &count) != CUDA_SUCCESS) {
		k->more = true;
		gmod_degraded("listing a graph's nodes");
		count = 0;
	}
	for (size_t i = 0; i < count && i < room; i++)
		collect_node(k, list[i], depth);
	if (list)
		munmap(list, size);
}

/* Of a large graph the first nodes are looked at. */
static void collect(struct kernels *k, CUgraph graph, int depth)
{
	size_t all = 0;

	k->more |= !gmod_succeeded(NEXT(cuGraphGetNodes)(graph, NULL, &all), "cuGraphGetNodes");
	k->more |= all > NODES || (all && depth > DEPTH);
	if (!all || depth > DEPTH)
		return;
	collect_mapped(k, graph, depth, all < NODES ? all : NODES);
}

/* All that is known of a graph's kernels. */
static void find_kernels(struct kernels *k, CUgraph graph)
{
	if (HAVE(cuGraphKernelNodeGetParams_v2))
		collect(k, graph, 0);
	else
		k->more = true;
	/* What is not known of them stands for one without a name, which is a suspect like the others. */
	if (k->more)
		k->function[k->count++] = 0;
}

CUresult gmod_instantiated(CUresult r, const CUgraphExec *exec, CUgraph graph, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on() && exec) {
		const size_t room = WORDS * sizeof(struct gmod_graph_word);
		struct kernels k = {.count = 0};

		k.word = gmod_map(room);
		find_kernels(&k, graph);
		gmod_graph_learn(gmod_handle(*exec), k.function, k.count);
		gmod_graph_words_learn(gmod_handle(*exec), k.more || k.unread ? NULL : k.word, k.words);
		if (k.word)
			munmap(k.word, room);
	}
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	if (gmod_on())
		gmod_graph_end(gmod_handle(exec));
	return gmod_done(NEXT(cuGraphExecDestroy)(exec), __func__);
}

/* An invalidated capture ends too, with an error. */
CUresult gmod_capture_over(CUresult r, const char *entry_point)
{
	bool over =
	    r == CUDA_SUCCESS || r == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || r == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;

	if (over && gmod_on())
		gmod_capture_ended();
	return gmod_done(r, entry_point);
}
