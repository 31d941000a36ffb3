/*
 * random-graph: each thread is a vertex and allocates its 1 to 8 edges, which lead anywhere, one by one as a list;
 * walks sixteen steps through the graph, over other vertices' edges; and frees its own.
 */
#include "inkernel.cuh"

enum { DEGREE_MOST = 8, STEPS = 16 };

struct edge {
	struct edge *next;
	uint64_t to;
};

static __device__ inline unsigned degree(unsigned vertex)
{
	return 1 + (unsigned)mix(vertex) % DEGREE_MOST;
}

template <class Memory> static __global__ void graph_connect(struct edge **first, uint64_t *out)
{
	unsigned v = thread_number(), n = thread_count();

	first[v] = NULL;
	for (unsigned k = 0; k < degree(v); k++) {
		struct edge *e = (struct edge *)Memory::get(sizeof(*e));

		if (!e) {
			out[v] = NO_MEMORY;
			return;
		}
		e->next = first[v];
		e->to = mix((uint64_t)v << 8 | k) % n;
		first[v] = e;
	}
}

static __global__ void graph_walk(struct edge *const *first, uint64_t *out)
{
	unsigned v = thread_number(), at = v;
	uint64_t sum = out[v];

	for (unsigned step = 0; sum != NO_MEMORY && step < STEPS; step++) {
		const struct edge *e = first[at];

		for (uint64_t skip = mix(sum) % degree(at); e && skip; skip--)
			e = e->next;
		sum = e ? mix(sum + e->to) : NO_MEMORY;
		at = e ? (unsigned)e->to : at;
	}
	out[v] = sum;
}

template <class Memory> static __global__ void graph_free(struct edge **first, uint64_t *out)
{
	unsigned v = thread_number();
	uint64_t sum = out[v];

	for (struct edge *e = first[v], *next; e; e = next) {
		sum = sum == NO_MEMORY ? sum : mix(sum + e->to);
		next = e->next;
		Memory::put(e);
	}
	out[v] = sum;
}

template <class Memory> static void run(const struct work *w)
{
	struct edge **first = (struct edge **)w->scratch;
	unsigned blocks = w->threads / w->block;

	graph_connect<Memory><<<blocks, w->block, 0, w->stream>>>(first, w->out);
	graph_walk<<<blocks, w->block, 0, w->stream>>>(first, w->out);
	graph_free<Memory><<<blocks, w->block, 0, w->stream>>>(first, w->out);
}

const struct program random_graph = {"random-graph", sizeof(struct edge *), {run<memory_cuda>, run<memory_gmod>}, {}};
