#include "monitor/names.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "monitor/activity.h"

enum { BUCKETS = 8192, SEEN = 4096, GRAPH_NAMES = 16 };
#define ARENA ((size_t)64 << 20)
#define NAME_MAX_BYTES ((size_t)4096)

/* Immutable once in its bucket; newest first. */
struct name {
	struct name *next;
	uint64_t handle, learned;
	char text[];
};

struct graph {
	struct graph *next;
	uint64_t handle, learned;
	unsigned count;
	const char *names[GRAPH_NAMES];
};

static _Atomic(struct name *) names[BUCKETS];
static _Atomic(struct graph *) graphs[BUCKETS];

/* Handles a launch has found known, so that the usual launch costs one load. */
static _Atomic uint64_t seen[SEEN];

/* Address space is reserved at once and costs nothing until it is used. */
static _Atomic(char *) arena;
static _Atomic size_t arena_used;

static uint64_t mix(uint64_t handle)
{
	return handle * 0x9e3779b97f4a7c15u >> 40;
}

static char *arena_base(void)
{
	char *base = atomic_load_explicit(&arena, memory_order_acquire);
	char *fresh;

	if (base)
		return base;
	fresh = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong_explicit(&arena, &base, fresh, memory_order_acq_rel, memory_order_acquire))
		return fresh;
	munmap(fresh, ARENA);
	return base;
}

static void *allocate(size_t size)
{
	char *base = arena_base();
	size_t at;

	size = (size + 15) & ~(size_t)15;
	if (!base || atomic_load_explicit(&arena_used, memory_order_relaxed) > ARENA - size)
		return NULL;
	at = atomic_fetch_add_explicit(&arena_used, size, memory_order_relaxed);
	return at <= ARENA - size ? base + at : NULL;
}

static const struct name *newest(uint64_t handle)
{
	const struct name *n = atomic_load_explicit(&names[mix(handle) % BUCKETS], memory_order_acquire);

	while (n && n->handle != handle)
		n = n->next;
	return n;
}

void gmod_name_learn(uint64_t handle, const char *text)
{
	_Atomic(struct name *) *bucket = &names[mix(handle) % BUCKETS];
	const struct name *known = newest(handle);
	size_t length = strnlen(text, NAME_MAX_BYTES);
	struct name *n;

	if (known && !strncmp(known->text, text, NAME_MAX_BYTES))
		return;
	n = allocate(sizeof(*n) + length + 1);
	if (!n)
		return;
	memcpy(n->text, text, length);
	n->text[length] = '\0';
	n->handle = handle;
	n->learned = gmod_ticks();
	n->next = atomic_load_explicit(bucket, memory_order_relaxed);
	/* release: the name is complete for whoever finds it */
	while (!atomic_compare_exchange_weak_explicit(bucket, &n->next, n, memory_order_release, memory_order_relaxed))
		;
}

bool gmod_name_known(uint64_t handle)
{
	_Atomic uint64_t *here = &seen[mix(handle) % SEEN];

	if (atomic_load_explicit(here, memory_order_relaxed) == handle)
		return true;
	if (!newest(handle))
		return false;
	atomic_store_explicit(here, handle, memory_order_relaxed);
	return true;
}

const char *gmod_name_of(uint64_t handle, uint64_t ticks)
{
	const struct name *oldest = NULL;

	for (const struct name *n = newest(handle); n; n = n->next) {
		if (n->handle != handle)
			continue;
		if (n->learned <= ticks)
			return n->text;
		oldest = n;
	}
	/* Learned after the launch was stamped, by the launch itself. */
	return oldest ? oldest->text : NULL;
}

static void add_distinct(struct graph *g, const char *name)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->names[i] == name)
			return;
	if (g->count < GRAPH_NAMES)
		g->names[g->count++] = name;
}

/* What is known from before stays. NULL: nothing is. true: there is more now. */
static bool learn(const struct graph *before, uint64_t graph, const uint64_t *functions, unsigned count)
{
	_Atomic(struct graph *) *bucket = &graphs[mix(graph) % BUCKETS];
	struct graph now = {.handle = graph, .learned = gmod_ticks()}, *g;

	for (unsigned i = 0; before && i < before->count; i++)
		add_distinct(&now, before->names[i]);
	for (unsigned i = 0; i < count; i++)
		add_distinct(&now, gmod_name_of(functions[i], now.learned));
	g = before && before->count == now.count ? NULL : allocate(sizeof(*g));
	if (!g)
		return false;
	*g = now;
	g->next = atomic_load_explicit(bucket, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(bucket, &g->next, g, memory_order_release, memory_order_relaxed))
		;
	return true;
}

static const struct graph *newest_graph(uint64_t graph)
{
	const struct graph *g = atomic_load_explicit(&graphs[mix(graph) % BUCKETS], memory_order_acquire);

	while (g && g->handle != graph)
		g = g->next;
	return g;
}

void gmod_graph_learn(uint64_t graph, const uint64_t *functions, unsigned count)
{
	learn(NULL, graph, functions, count);
}

bool gmod_graph_learn_more(uint64_t graph, const uint64_t *functions, unsigned count)
{
	return learn(newest_graph(graph), graph, functions, count);
}

unsigned gmod_graph_kernels(uint64_t graph, const char **out, unsigned max)
{
	const struct graph *g = newest_graph(graph);
	unsigned count = !g ? 0 : g->count < max ? g->count : max;

	for (unsigned i = 0; i < count; i++)
		out[i] = g->names[i];
	return count;
}
