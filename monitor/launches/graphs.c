#include "monitor/launches/graphs.h"

#include "lib/base/clock.h"
#include "monitor/launches/history.h"
#include "monitor/launches/names.h"

/* What is kept of a graph is an array of its kernels' names. */
static gmod_histories graphs;

struct list {
	unsigned count;
	const char *names[GMOD_GRAPH_NAMES];
};

static bool is_among(const char *name, const char *const *among, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (name == among[i])
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

static const char *const *names_of(const struct gmod_kept *set)
{
	return (const char *const *)(const void *)set->bytes;
}

static unsigned count_of(const struct gmod_kept *set)
{
	return (unsigned)(set->size / sizeof(char *));
}

static bool is_known(const char *name, const struct gmod_kept *before)
{
	/* one that has no place among so many is among those that are not known */
	return before && (is_among(name, names_of(before), count_of(before)) || count_of(before) == GMOD_GRAPH_NAMES);
}

/* With what was there behind it; of a graph of which nothing was known that is anything. */
static void add_before(struct list *l, const struct gmod_kept *before)
{
	if (!before)
		add_distinct(l, NULL);
	for (unsigned i = 0; before && i < count_of(before); i++)
		add_distinct(l, names_of(before)[i]);
}

/* stays: what was there does, and nothing changes where there is nothing else. true: one that has a name is new. */
static bool learn(uint64_t graph, const uint64_t *functions, unsigned count, bool stays)
{
	const struct gmod_kept *before = gmod_history_at(graphs, graph, GMOD_LATEST, NULL), *set;
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
	/* Programs make graphs over and over, of the same kernels. */
	set = gmod_keep(l.names, l.count * sizeof(l.names[0]));
	if (set != before)
		gmod_history_add(graphs, graph, set, 0);
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

void gmod_graph_end(uint64_t graph)
{
	gmod_history_add(graphs, graph, NULL, 0);
}

unsigned gmod_graph_kernels(uint64_t graph, uint64_t ticks, const char **out, unsigned max)
{
	const struct gmod_kept *s = gmod_history_at(graphs, graph, ticks, NULL);
	unsigned count = !s ? 0 : count_of(s) < max ? count_of(s) : max;

	for (unsigned i = 0; i < count; i++)
		out[i] = names_of(s)[i];
	return count;
}
