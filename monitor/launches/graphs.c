#include "monitor/launches/graphs.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "monitor/launches/names.h"

enum { TIMES = 4 };
#define NO_TIME UINT64_MAX

/* The kernels that some graphs have; immutable once in its list. */
struct set {
	struct gmod_node node; /* key: of the names */
	unsigned count;
	const char *names[];
};

/* What a handle has stood for, by the time since when: a slot for each change, over and over (tests/models/graph.pml).
 */
struct graph {
	struct gmod_node node; /* key: the handle */
	_Atomic unsigned changes;
	struct {
		_Atomic uint64_t since;          /* NO_TIME: the slot is empty or being written */
		_Atomic(const struct set *) set; /* NULL: nothing is known */
	} slot[TIMES];
};

static gmod_lists graphs, sets;

struct list {
	unsigned count;
	const char *names[GMOD_GRAPH_NAMES];
};

static bool is_among(const char *name, const char *const *among, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (gmod_same_name(name, among[i]))
			return true;
	return false;
}

/* The last place is for one whose name is not known, which stands for those that have no place. */
static void add_distinct(struct list *l, const char *name)
{
	if (l->count == GMOD_GRAPH_NAMES - 1 && !is_among(name, l->names, l->count))
		name = NULL;
	if (l->count < GMOD_GRAPH_NAMES && !is_among(name, l->names, l->count))
		l->names[l->count++] = name;
}

/* Programs make graphs over and over, of the same kernels: these are kept once. NULL: there is no room. */
static const struct set *set_of(const struct list *l)
{
	size_t size = l->count * sizeof(l->names[0]);
	uint64_t key = gmod_hash_bytes(GMOD_HASH_START, l->names, size);
	struct set *s;

	for (struct gmod_node *n = gmod_list_find(sets, key, NULL); n; n = gmod_list_find(sets, key, n)) {
		s = (struct set *)n;
		if (s->count == l->count && memcmp(s->names, l->names, size) == 0)
			return s;
	}
	s = gmod_names_allocate(sizeof(*s) + size);
	if (!s)
		return NULL;
	s->node.key = key;
	s->count = l->count;
	memcpy(s->names, l->names, size);
	gmod_list_add(sets, &s->node);
	return s;
}

static struct graph *find_graph(uint64_t handle)
{
	return (struct graph *)gmod_list_find(graphs, handle, NULL);
}

/* NULL: there is no room. */
static struct graph *make_graph(uint64_t handle)
{
	struct graph *g = gmod_names_allocate(sizeof(*g));

	if (!g)
		return NULL;
	g->node.key = handle;
	for (unsigned i = 0; i < TIMES; i++)
		atomic_init(&g->slot[i].since, NO_TIME);
	gmod_list_add(graphs, &g->node);
	return g;
}

static const struct set *newest_set(struct graph *g)
{
	unsigned changes = atomic_load_explicit(&g->changes, memory_order_acquire);

	return changes ? atomic_load_explicit(&g->slot[(changes - 1) % TIMES].set, memory_order_relaxed) : NULL;
}

static void put_set(struct graph *g, const struct set *set, uint64_t now)
{
	unsigned n = atomic_load_explicit(&g->changes, memory_order_relaxed) % TIMES;

	/* release: who finds this slot empty finds what came into the others before */
	atomic_store_explicit(&g->slot[n].since, NO_TIME, memory_order_release);
	atomic_store_explicit(&g->slot[n].set, set, memory_order_release);
	/* release: set and slot are complete for who finds them by the time, or by the count */
	atomic_store_explicit(&g->slot[n].since, now, memory_order_release);
	atomic_fetch_add_explicit(&g->changes, 1, memory_order_release);
}

static bool is_known(const char *name, const struct set *before)
{
	/* one that has no place among so many is among those that are not known */
	return before && (is_among(name, before->names, before->count) || before->count == GMOD_GRAPH_NAMES);
}

/* With what was there behind it; of a graph of which nothing was known that is anything. */
static void add_before(struct list *l, const struct set *before)
{
	if (!before)
		add_distinct(l, NULL);
	for (unsigned i = 0; before && i < before->count; i++)
		add_distinct(l, before->names[i]);
}

/* stays: what was there does, and nothing changes where there is nothing else. true: one that has a name is new. */
static bool learn(uint64_t graph, const uint64_t *functions, unsigned count, bool stays)
{
	struct graph *g = find_graph(graph);
	const struct set *before = g ? newest_set(g) : NULL, *set;
	uint64_t now = gmod_ticks();
	struct list l = {.count = 0};
	bool any_new = false, all_known = before;

	for (unsigned i = 0; i < count; i++) {
		const char *name = gmod_name_of(functions[i], now);
		bool known = is_known(name, before);

		all_known &= known;
		any_new |= name && !known;
		add_distinct(&l, name);
	}
	if (stays && all_known)
		return false;
	if (stays)
		add_before(&l, before);
	set = set_of(&l);
	if (!g)
		g = make_graph(graph);
	if (g && (!set || set != before))
		put_set(g, set, now);
	return any_new;
}

bool gmod_graph_learn(uint64_t graph, const uint64_t *functions, unsigned count)
{
	return learn(graph, functions, count, false);
}

bool gmod_graph_learn_more(uint64_t graph, const uint64_t *functions, unsigned count)
{
	return learn(graph, functions, count, true);
}

/* Of a slot that is written meanwhile nothing is known. */
static const struct set *set_in(struct graph *g, unsigned n, uint64_t since)
{
	const struct set *set = atomic_load_explicit(&g->slot[n].set, memory_order_acquire);

	/* the set is a later one: then so is the time */
	return atomic_load_explicit(&g->slot[n].since, memory_order_relaxed) == since ? set : NULL;
}

static const struct set *set_at(struct graph *g, uint64_t ticks)
{
	uint64_t latest = NO_TIME;
	unsigned n = 0;

	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t since = atomic_load_explicit(&g->slot[i].since, memory_order_acquire);

		if (since == NO_TIME || since > ticks || (latest != NO_TIME && since < latest))
			continue;
		latest = since;
		n = i;
	}
	return latest == NO_TIME ? NULL : set_in(g, n, latest);
}

unsigned gmod_graph_kernels(uint64_t graph, uint64_t ticks, const char **out, unsigned max)
{
	struct graph *g = find_graph(graph);
	const struct set *s = g ? set_at(g, ticks) : NULL;
	unsigned count = !s ? 0 : s->count < max ? s->count : max;

	for (unsigned i = 0; i < count; i++)
		out[i] = s->names[i];
	return count;
}
