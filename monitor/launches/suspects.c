#include "monitor/launches/suspects.h"

#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/facts.h"
#include "lib/base/map.h"
#include "monitor/launches/arguments.h"
#include "monitor/launches/graphs.h"
#include "monitor/launches/names.h"
#include "monitor/launches/proof.h"

/* Aggregation of at most this many kernels; what does not fit is counted as omitted. */
enum { GROUPS = 512 };

struct group {
	struct gmod_suspect suspect;
	uint64_t first, latest, shown; /* ticks; shown: the launch whose pointer, grid and block the suspect has */
	uint64_t context, stream;      /* of one of the launches */
	const struct gmod_kept *words; /* of the graph, in which `pointer` was found; NULL: not yet */
	struct gmod_pointer pointer;
	unsigned place; /* among the kernels of the latest launch, a graph's */
	bool is_named;  /* as the suspect of that number */
	uint32_t number;
};

struct groups {
	struct group at[GROUPS];
	unsigned count;
	uint64_t omitted;
	struct gmod_target target;
	struct gmod_unfinished *unfinished; /* by group for now; or NULL */
};

static bool copy_launch(const struct gmod_thread *t, uint64_t n, struct gmod_seen_launches *out)
{
	const struct gmod_launch *l = &t->ring[n % GMOD_RING];

	*out = (struct gmod_seen_launches){.thread = t, .number = n, .count = 1};
	out->first = out->latest = atomic_load_explicit(&l->ticks, memory_order_acquire);
	out->context = atomic_load_explicit(&l->context, memory_order_relaxed);
	out->stream = atomic_load_explicit(&l->stream, memory_order_relaxed);
	out->function = atomic_load_explicit(&l->function, memory_order_relaxed);
	out->is_graph = atomic_load_explicit(&l->is_graph, memory_order_relaxed);
	out->python = atomic_load_explicit(&l->python, memory_order_relaxed);
	for (int i = 0; i < 3; i++) {
		out->grid[i] = atomic_load_explicit(&l->grid[i], memory_order_relaxed);
		out->block[i] = atomic_load_explicit(&l->block[i], memory_order_relaxed);
	}
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&t->launches, memory_order_relaxed) - n < GMOD_RING;
}

static struct group *group_for(struct groups *g, const char *name, uint64_t graph)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->at[i].suspect.name == name && g->at[i].suspect.graph == graph)
			return &g->at[i];
	if (g->count == GROUPS) {
		g->omitted++;
		return NULL;
	}
	g->at[g->count].suspect.name = name;
	g->at[g->count].suspect.graph = graph;
	return &g->at[g->count++];
}

static void note_unfinished(struct groups *g, const struct gmod_seen_launches *l, const struct group *group)
{
	struct gmod_unfinished *u = g->unfinished;

	if (u && u->count < sizeof(u->at) / sizeof(u->at[0]))
		u->at[u->count++] = (struct gmod_unfinished_launches){*l, (uint32_t)(group - g->at)};
}

static bool is_unproven(const struct gmod_seen_launches *l)
{
	return (l->number == GMOD_NO_NUMBER || !gmod_launch_complete(l->thread, l->number, UINT64_MAX)) &&
	       !gmod_proven(l->context, l->stream, l->latest);
}

/* What the marks of launches without a record tell; where more than half are set that is nothing. */
static struct gmod_pointer pointer_by_marks(const uint64_t marks[GMOD_MARK_WORDS], const struct gmod_target *target)
{
	unsigned mark = gmod_mark_of(target->base), count = 0;

	for (int i = 0; i < GMOD_MARK_WORDS; i++)
		count += (unsigned)__builtin_popcountll(marks[i]);
	if (!target->base || count > GMOD_MARKS / 2)
		return gmod_points_unknown;
	if (!(marks[mark / 64] >> mark % 64 & 1))
		return (struct gmod_pointer){.pointing = GMOD_POINTS_UNKNOWN, .distance = UINT64_MAX};
	return (struct gmod_pointer){.pointing = GMOD_POINTS_MAYBE, .distance = count, .address = target->base};
}

/* Graphs are launched over and over, and are large: what was found in these words stands. */
static struct gmod_pointer pointer_in_graph(const struct groups *g, const struct gmod_seen_launches *l,
					    struct group *group)
{
	const struct gmod_kept *words = gmod_graph_words_at(l->function, l->latest);

	if (!words || words != group->words)
		group->pointer = gmod_graph_find(words, group->suspect.name, &g->target);
	group->words = words;
	return group->pointer;
}

/* Nothing is known of launches of a graph in which it may have changed. */
static struct gmod_pointer pointer_of(const struct groups *g, const struct gmod_seen_launches *l, struct group *group)
{
	if (l->is_graph && l->count == 1)
		return pointer_in_graph(g, l, group);
	if (l->is_graph)
		return gmod_points_unknown;
	if (l->number == GMOD_NO_NUMBER)
		return pointer_by_marks(l->marks, &g->target);
	return gmod_arguments_find(l->thread, l->number, &g->target);
}

/* The launch that says most is the one that is shown, of those that say as much the latest. */
static void note_pointer(struct group *group, const struct gmod_seen_launches *l, const struct gmod_pointer *pointer)
{
	struct gmod_suspect *s = &group->suspect;

	if (s->launches && gmod_points_better(&s->pointer, pointer))
		return;
	if (s->launches && !gmod_points_better(pointer, &s->pointer) && l->latest < group->shown)
		return;
	s->pointer = *pointer;
	group->shown = l->latest;
	memcpy(s->grid, l->grid, sizeof(l->grid));
	memcpy(s->block, l->block, sizeof(l->block));
}

static void count_launch(struct groups *g, const struct gmod_seen_launches *l, const char *name, unsigned place)
{
	struct group *group = group_for(g, name, l->is_graph ? l->function : 0);
	uint64_t first = l->count > 1 ? l->first : l->latest;
	struct gmod_pointer pointer;

	if (!group)
		return;
	pointer = pointer_of(g, l, group);
	note_pointer(group, l, &pointer);
	if (!group->suspect.launches) {
		group->first = first;
		group->context = l->context;
		group->stream = l->stream;
		group->suspect.stream = gmod_stream_handle(l->stream, l->context);
	} else if (group->context != l->context || group->stream != l->stream) {
		group->suspect.stream = GMOD_SEVERAL_STREAMS;
	}
	if (first < group->first)
		group->first = first;
	if (l->latest >= group->latest) {
		group->latest = l->latest;
		group->place = place;
	}
	group->suspect.launches += l->count;
	if (is_unproven(l)) {
		group->suspect.unfinished += l->count;
		note_unfinished(g, l, group);
	}
	gmod_note_place(group->suspect.python, l->python); /* of one thread the latest launch comes first */
}

/* Each kernel of a graph, or the one that was launched. */
static void count_any(struct groups *g, const struct gmod_seen_launches *l)
{
	unsigned count = 0;
	const char *const *names = l->is_graph ? gmod_graph_kernels(l->function, l->latest, &count) : NULL;

	if (!count)
		count_launch(g, l, l->is_graph ? NULL : gmod_name_of(l->function, l->latest), 0);
	for (unsigned i = 0; i < count; i++)
		count_launch(g, l, names[i], i);
}

/* One that is in its call was not there yet when the stream's last look was asked for. */
static bool is_outside(const struct gmod_seen_launches *l, const struct gmod_window *when)
{
	return when->stream && l->stream == when->stream && (l->latest < when->from || l->first > when->to);
}

/* Leave those without a record. They were launched before the oldest one that there is. */
static bool take_records_off(struct gmod_seen_launches *seen, uint64_t oldest, uint64_t end)
{
	struct gmod_seen_launches l;
	uint64_t records = 0;

	for (uint64_t n = oldest; n < end && !seen->has_no_place; n++)
		records += copy_launch(seen->thread, n, &l) && l.function == seen->function &&
			   l.stream == seen->stream && l.latest >= seen->first && l.latest <= seen->latest &&
			   l.latest != GMOD_NOT_LAUNCHED;
	if (seen->count <= records)
		return false;
	seen->count -= records;
	if (copy_launch(seen->thread, oldest, &l) && l.latest < seen->latest && l.latest != GMOD_NOT_LAUNCHED)
		seen->latest = l.latest;
	return true;
}

static void look_at_thread(struct groups *g, const struct gmod_thread *t, const struct gmod_window *when,
			   struct gmod_finding *f)
{
	uint64_t end = atomic_load_explicit(&t->launches, memory_order_acquire), forgotten;
	uint64_t oldest = end > GMOD_RING - 1 ? end - (GMOD_RING - 1) : 0;
	struct gmod_seen_launches l;

	/* The latest first: of those that are not complete, these have to find a place. */
	for (uint64_t n = end; n-- > oldest;)
		if (copy_launch(t, n, &l) && l.latest != GMOD_NOT_LAUNCHED &&
		    !gmod_launch_complete(t, n, when->intact) && !is_outside(&l, when))
			count_any(g, &l);
	if (!oldest)
		return;
	for (uint32_t i = 0; gmod_kernels_next(t, when->intact, &i, &l);) {
		if (!take_records_off(&l, oldest, end) || is_outside(&l, when))
			continue;
		if (l.has_no_place)
			f->launches_lost += l.count;
		else
			count_any(g, &l);
	}
	forgotten = gmod_kernels_forgotten(t, when->intact);
	if (forgotten && gmod_ns_of_ticks(forgotten) > f->unknown_before_ns)
		f->unknown_before_ns = gmod_ns_of_ticks(forgotten);
}

/* A kernel that was launched a thousand times has mostly been right: the fewer launches, the sooner it comes. */
static bool comes_before(const struct group *a, const struct group *b)
{
	if (gmod_points_better(&a->suspect.pointer, &b->suspect.pointer))
		return true;
	if (gmod_points_better(&b->suspect.pointer, &a->suspect.pointer))
		return false;
	if (a->suspect.launches != b->suspect.launches)
		return a->suspect.launches < b->suspect.launches;
	return a->latest > b->latest || (a->latest == b->latest && a->place < b->place);
}

static struct group *find_first(struct groups *g)
{
	struct group *best = NULL;

	for (unsigned i = 0; i < g->count; i++)
		if (!g->at[i].is_named && (!best || comes_before(&g->at[i], best)))
			best = &g->at[i];
	return best;
}

/* From groups to suspects; there may have been no room for one. */
static void assign_unfinished(const struct groups *g, struct gmod_unfinished *u)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < u->count; i++) {
		const struct group *group = &g->at[u->at[i].suspect];

		if (!group->is_named)
			continue;
		u->at[kept] = u->at[i];
		u->at[kept++].suspect = group->number;
	}
	u->count = kept;
}

/*
 * Mapped: the thread may have a small stack, and malloc may be what called us. Offsets are counted from the buffer's
 * end for an overflow, else from its start. Ticks become times once: asked for twice the same are some nanoseconds
 * apart.
 */
void gmod_suspects_find(struct gmod_finding *f, const struct gmod_window *when, struct gmod_unfinished *unfinished)
{
	uint64_t from = f->buffer.base + (f->class == GMOD_HEAP_BUFFER_OVERFLOW ? f->buffer.size : 0);
	struct groups *g = gmod_map(sizeof(*g));
	struct group *best;

	f->suspect_count = 0;
	if (unfinished)
		unfinished->count = 0;
	if (!g) {
		gmod_degraded("memory for suspects");
		return;
	}
	g->unfinished = unfinished;
	if (gmod_arguments_tell(f))
		g->target = (struct gmod_target){f->buffer.base, f->buffer.size, from + (uint64_t)f->offset};
	for (const struct gmod_thread *t = gmod_threads(); t; t = t->next)
		look_at_thread(g, t, when, f);
	while (f->suspect_count < f->suspect_room && (best = find_first(g))) {
		struct gmod_suspect *s = &f->suspect[f->suspect_count];

		best->is_named = true;
		best->number = f->suspect_count++;
		*s = best->suspect;
		s->launched_ns = best->latest == GMOD_IN_CALL ? 0 : gmod_ns_of_ticks(best->latest);
		s->first_ns = best->first == best->latest ? s->launched_ns : gmod_ns_of_ticks(best->first);
	}
	f->suspects_omitted = g->omitted + g->count - f->suspect_count;
	if (unfinished)
		assign_unfinished(g, unfinished);
	munmap(g, sizeof(*g));
}

/* A launch whose call was under way then is looked up again: its record says when the call returned, if at all. */
static bool is_unfinished(struct gmod_seen_launches l)
{
	if (l.latest == GMOD_IN_CALL && !copy_launch(l.thread, l.number, &l))
		return false;
	return l.latest != GMOD_NOT_LAUNCHED && is_unproven(&l);
}

void gmod_suspects_refresh(struct gmod_finding *f, const struct gmod_unfinished *unfinished)
{
	for (uint32_t i = 0; i < f->suspect_count; i++)
		f->suspect[i].unfinished = 0;
	for (uint32_t i = 0; i < unfinished->count; i++)
		if (is_unfinished(unfinished->at[i].launches))
			f->suspect[unfinished->at[i].suspect].unfinished += unfinished->at[i].launches.count;
}

static bool is_of_kernel(const struct gmod_seen_launches *l, const char *kernel)
{
	const char *name = l->is_graph ? NULL : gmod_name_of(l->function, l->latest);

	return name && !strcmp(name, kernel);
}

/* By when they were; what does not fit is the oldest. */
static uint32_t insert_latest(struct gmod_seen_launches *to, uint32_t count, uint32_t room,
			      const struct gmod_seen_launches *l)
{
	uint32_t at = count;

	while (at > 0 && to[at - 1].latest < l->latest)
		at--;
	if (at == room)
		return count;
	count += count < room;
	memmove(&to[at + 1], &to[at], (count - 1 - at) * sizeof(*to));
	to[at] = *l;
	return count;
}

uint32_t gmod_suspects_launches(const char *kernel, const struct gmod_window *when, struct gmod_seen_launches *out,
				uint32_t room)
{
	struct gmod_seen_launches l;
	uint32_t count = 0;

	for (const struct gmod_thread *t = gmod_threads(); t; t = t->next) {
		uint64_t end = atomic_load_explicit(&t->launches, memory_order_acquire);

		for (uint64_t n = end; n > 0 && end - n < GMOD_RING - 1; n--)
			if (copy_launch(t, n - 1, &l) && l.latest != GMOD_NOT_LAUNCHED &&
			    !gmod_launch_complete(t, n - 1, when->intact) && is_of_kernel(&l, kernel))
				count = insert_latest(out, count, room, &l);
	}
	return count;
}
