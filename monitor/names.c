#include "monitor/names.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "monitor/activity.h"

enum { BUCKETS = 8192, SEEN = 4096, TIMES = 4 };
#define NO_TIME UINT64_MAX
#define ARENA ((size_t)64 << 20)
#define NAME_MAX_BYTES ((size_t)4096)

/* Immutable once in its bucket; newest first. */
struct name {
	struct name *next;
	uint64_t handle, learned;
	char text[];
};

/* The kernels that some graphs have; immutable once in its bucket. */
struct set {
	struct set *next;
	unsigned count;
	const char *names[];
};

/* What a handle has stood for, by the time since when: a slot for each change, over and over (tests/models/graph.pml).
 */
struct graph {
	struct graph *next;
	uint64_t handle;
	_Atomic unsigned changes;
	struct {
		_Atomic uint64_t since;          /* NO_TIME: the slot is empty or being written */
		_Atomic(const struct set *) set; /* NULL: nothing is known */
	} slot[TIMES];
};

static _Atomic(struct name *) names[BUCKETS];
static _Atomic(struct graph *) graphs[BUCKETS];
static _Atomic(struct set *) sets[BUCKETS];

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

struct list {
	unsigned count;
	const char *names[GMOD_GRAPH_NAMES];
};

bool gmod_same_name(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

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

static struct set *find_set(struct set *from, const struct list *l)
{
	while (from && (from->count != l->count || memcmp(from->names, l->names, l->count * sizeof(l->names[0])) != 0))
		from = from->next;
	return from;
}

/* Programs make graphs over and over, of the same kernels: these are kept once. NULL: there is no room. */
static const struct set *set_of(const struct list *l)
{
	uint64_t key = l->count;
	_Atomic(struct set *) *bucket;
	struct set *s;

	for (unsigned i = 0; i < l->count; i++)
		key = key * 31 + (uint64_t)(uintptr_t)l->names[i];
	bucket = &sets[mix(key) % BUCKETS];
	s = find_set(atomic_load_explicit(bucket, memory_order_acquire), l);
	if (s)
		return s;
	s = allocate(sizeof(*s) + l->count * sizeof(l->names[0]));
	if (!s)
		return NULL;
	s->count = l->count;
	memcpy(s->names, l->names, l->count * sizeof(l->names[0]));
	s->next = atomic_load_explicit(bucket, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(bucket, &s->next, s, memory_order_release, memory_order_relaxed))
		;
	return s;
}

static struct graph *find_graph(uint64_t handle)
{
	struct graph *g = atomic_load_explicit(&graphs[mix(handle) % BUCKETS], memory_order_acquire);

	while (g && g->handle != handle)
		g = g->next;
	return g;
}

/* NULL: there is no room. */
static struct graph *make_graph(uint64_t handle)
{
	_Atomic(struct graph *) *bucket = &graphs[mix(handle) % BUCKETS];
	struct graph *g = allocate(sizeof(*g));

	if (!g)
		return NULL;
	g->handle = handle;
	for (unsigned i = 0; i < TIMES; i++)
		atomic_init(&g->slot[i].since, NO_TIME);
	g->next = atomic_load_explicit(bucket, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(bucket, &g->next, g, memory_order_release, memory_order_relaxed))
		;
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
