#include "monitor/launches/graphs.h"

#include "lib/base/clock.h"
#include "monitor/launches/history.h"
#include "monitor/launches/names.h"

/* What is kept of a graph is an array of its kernels' names. */
static gmod_histories graphs, all_words;

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

const char *const *gmod_graph_kernels(uint64_t graph, uint64_t ticks, unsigned *count)
{
	const struct gmod_kept *set = gmod_history_at(graphs, graph, ticks, NULL);

	*count = set ? (unsigned)(set->size / sizeof(char *)) : 0;
	return set ? (const void *)set->bytes : NULL;
}

/* Programs make graphs over and over, of the same kernels. */
static void keep_list(uint64_t graph, const struct list *l)
{
	const struct gmod_kept *set = gmod_keep(l->names, l->count * sizeof(l->names[0]));

	if (set != gmod_history_at(graphs, graph, GMOD_LATEST, NULL))
		gmod_history_add(graphs, graph, set, 0);
}

void gmod_graph_learn(uint64_t graph, const uint64_t *functions, unsigned count)
{
	uint64_t now = gmod_ticks();
	struct list l = {.count = 0};

	for (unsigned i = 0; i < count; i++)
		add_distinct(&l, gmod_name_of(functions[i], now));
	keep_list(graph, &l);
}

/* The one without a name first, so that no list of suspects is too short for it. */
void gmod_graph_updated(uint64_t graph)
{
	struct list l = {.count = 1};
	unsigned count;
	const char *const *before = gmod_graph_kernels(graph, GMOD_LATEST, &count);

	for (unsigned i = 0; i < count; i++)
		add_distinct(&l, before[i]);
	keep_list(graph, &l);
	gmod_graph_words_learn(graph, NULL, 0);
}

void gmod_graph_end(uint64_t graph)
{
	gmod_history_add(graphs, graph, NULL, 0);
	gmod_history_add(all_words, graph, NULL, 0);
}

/* ---- what they have as arguments ---- */

void gmod_graph_words_learn(uint64_t graph, const struct gmod_graph_word *words, size_t count)
{
	size_t size = count * sizeof(*words);
	const struct gmod_kept *kept = NULL;

	if (words && gmod_keep_used() + size <= GMOD_GRAPH_BYTES)
		kept = gmod_keep(words, size);
	gmod_history_add(all_words, graph, kept, 0);
}

const struct gmod_kept *gmod_graph_words_at(uint64_t graph, uint64_t ticks)
{
	return gmod_history_at(all_words, graph, ticks, NULL);
}

struct gmod_pointer gmod_graph_find(const struct gmod_kept *words, const char *name, const struct gmod_target *target)
{
	const struct gmod_graph_word *word = words ? (const void *)words->bytes : NULL;
	struct gmod_pointer best = gmod_points_away;

	if (!words || !name || !target->base)
		return gmod_points_unknown;
	for (size_t i = 0; i < words->size / sizeof(*word); i++) {
		struct gmod_pointer found = gmod_pointer_judge(word[i].word, target);

		found.argument = word[i].argument;
		found.byte = word[i].byte;
		if (word[i].name == name && gmod_points_better(&found, &best))
			best = found;
	}
	return best;
}
