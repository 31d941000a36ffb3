#include "monitor/launches/kernels.h"

#include "lib/base/clock.h"
#include "lib/base/map.h"

enum { PROBES = 16 };

struct plain_span {
	uint64_t first, latest, count;
};

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

/* ---- the thread's own side ---- */

/* release, each: who finds the span empty finds its launches where they went before. */
static void put_span(struct gmod_span *to, struct plain_span s)
{
	store(&to->first, s.first);
	store(&to->latest, s.latest);
	atomic_store_explicit(&to->count, s.count, memory_order_release);
}

static struct plain_span get_span(const struct gmod_span *from)
{
	/* acquire: the times are those of the count, or later ones */
	uint64_t count = atomic_load_explicit(&from->count, memory_order_acquire);

	return (struct plain_span){load(&from->first), load(&from->latest), count};
}

static struct plain_span both_spans(struct plain_span a, struct plain_span b)
{
	if (!a.count || !b.count)
		return a.count ? a : b;
	return (struct plain_span){a.first < b.first ? a.first : b.first, a.latest > b.latest ? a.latest : b.latest,
				   a.count + b.count};
}

/*
 * Of the thread's latest launch, one more behind so many of the newest span: where its arguments point, and everywhere
 * if they are not known.
 */
static void mark(const struct gmod_thread *t, struct gmod_marks *m, uint64_t launches)
{
	uint64_t marks[GMOD_MARK_WORDS] = {UINT64_MAX, UINT64_MAX};
	const struct gmod_signature *s = NULL;
	const _Atomic uint64_t *words = NULL;

	if (launches < GMOD_MARKED_LAUNCHES)
		words = gmod_arguments_latest(t, &s);
	if (words && !s->is_cut)
		memset(marks, 0, sizeof(marks));
	for (int i = 0; words && i < s->count; i++)
		for (unsigned w = (s->at[i].offset + 7U) / 8; w < (s->at[i].offset + s->at[i].size) / 8U; w++) {
			unsigned bit = gmod_mark_of(load(&words[w]));

			if (gmod_may_be_address(load(&words[w])))
				marks[bit / 64] |= UINT64_C(1) << bit % 64;
		}
	for (int i = 0; i < GMOD_MARK_WORDS; i++)
		store(&m->recent[i], load(&m->recent[i]) | marks[i]);
}

/* Marks may be too many, never too few: where `older` alone moves on its marks stay, too. */
static void move_marks(struct gmod_marks *m, bool all)
{
	for (int i = 0; i < GMOD_MARK_WORDS; i++)
		store(&m->done[i], load(&m->done[i]) | load(&m->recent[i]));
	/* release fence: who finds that they are not there finds them there */
	atomic_thread_fence(memory_order_release);
	for (int i = 0; all && i < GMOD_MARK_WORDS; i++)
		store(&m->recent[i], 0);
}

/* What is complete goes to `done`, with the time when that was noted: a later note has another. */
static void move_on(struct gmod_kernel *k, struct gmod_marks *m)
{
	struct plain_span older = get_span(&k->older), newest = get_span(&k->newest), none = {0, 0, 0};

	if (newest.latest <= load(&k->complete)) {
		older = both_spans(older, newest);
		newest.count = newest.latest = 0;
	}
	move_marks(m, !newest.count);
	if (older.count) {
		atomic_store_explicit(&k->done_since, load(&k->complete_since), memory_order_release);
		put_span(&k->done, both_spans(get_span(&k->done), older));
	}
	put_span(&k->older, newest);
	put_span(&k->newest, none);
}

static void count_in(const struct gmod_thread *t, struct gmod_kernel *k, struct gmod_marks *m, uint64_t ticks)
{
	struct plain_span newest = get_span(&k->newest);

	if (load(&k->older.latest) <= load(&k->complete) && newest.count) {
		move_on(k, m);
		newest.count = 0;
	}
	if (!newest.count)
		newest.first = ticks;
	mark(t, m, newest.count);
	put_span(&k->newest, (struct plain_span){newest.first, ticks, newest.count + 1});
}

static uint64_t latest_of(const struct gmod_kernel *k)
{
	/* acquire: the time is that of the count, or a later one */
	uint64_t count = atomic_load_explicit(&k->newest.count, memory_order_acquire);

	return load(count ? &k->newest.latest : &k->older.latest);
}

/* What had the place is complete; who asks for a time before that is told that kernels may be missing. */
static void clear_place(struct gmod_kernels *all, struct gmod_kernel *k)
{
	uint64_t since = load(&k->complete_since);

	if (since > load(&all->forgotten))
		atomic_store_explicit(&all->forgotten, since, memory_order_release);
	store(&k->function, 0);
	/* release: who finds anything of what follows finds the place changed */
	atomic_thread_fence(memory_order_release);
	put_span(&k->newest, (struct plain_span){0, 0, 0});
	put_span(&k->older, (struct plain_span){0, 0, 0});
	put_span(&k->done, (struct plain_span){0, 0, 0});
	store(&k->complete, 0);
	all->marks[k - all->place] = (struct gmod_marks){0};
}

static void take_place(struct gmod_kernel *k, const struct gmod_launch *l)
{
	store(&k->stream, load(&l->stream));
	store(&k->context, load(&l->context));
	atomic_store_explicit(&k->is_graph, atomic_load_explicit(&l->is_graph, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&k->function, load(&l->function), memory_order_release);
}

/* The kernel's own place; else an empty one, else that which has been complete for longest; else that of none. */
static struct gmod_kernel *find_place(struct gmod_kernels *all, const struct gmod_launch *l)
{
	uint64_t function = load(&l->function), stream = load(&l->stream);
	unsigned start = gmod_kernel_start(function, stream);
	struct gmod_kernel *spare = NULL;

	for (unsigned i = 0; i < PROBES; i++) {
		struct gmod_kernel *k = &all->place[(start + i) % GMOD_KERNELS];
		uint64_t found = load(&k->function);

		if (found == function && load(&k->stream) == stream)
			return k;
		if (!found) {
			uint32_t used = atomic_load_explicit(&all->used, memory_order_relaxed);

			take_place(k, l);
			atomic_store_explicit(&all->order[used], (uint16_t)(k - all->place), memory_order_relaxed);
			/* release: its number is there for who sees that there is one more */
			atomic_store_explicit(&all->used, used + 1, memory_order_release);
			return k;
		}
		if (latest_of(k) <= load(&k->complete) &&
		    (!spare || load(&k->complete_since) < load(&spare->complete_since)))
			spare = k;
	}
	if (!spare)
		return &all->place[GMOD_NO_PLACE];
	clear_place(all, spare);
	take_place(spare, l);
	return spare;
}

void gmod_kernel_count_elsewhere(struct gmod_thread *t, const struct gmod_launch *l, uint64_t ticks)
{
	struct gmod_kernels *all = atomic_load_explicit(&t->kernels, memory_order_relaxed);
	struct gmod_kernel *k;

	if (!all) {
		all = gmod_map(sizeof(*all));
		/* release: it is empty for who looks */
		atomic_store_explicit(&t->kernels, all, memory_order_release);
	}
	if (!all)
		return;
	k = find_place(all, l);
	count_in(t, k, &all->marks[k - all->place], ticks);
}

/* ---- what is complete ---- */

/* Number 0 is that of what found no place, which is known to be complete only when all is. */
void gmod_kernels_look(struct gmod_thread *t, gmod_is_proven *is_proven, bool rests)
{
	struct gmod_kernels *all = atomic_load_explicit(&t->kernels, memory_order_acquire);
	uint32_t used = all ? atomic_load_explicit(&all->used, memory_order_acquire) : 0;

	for (uint32_t n = rests ? 0 : 1; all && n <= used; n++) {
		unsigned place = n ? atomic_load_explicit(&all->order[n - 1], memory_order_relaxed) : GMOD_NO_PLACE;
		struct gmod_kernel *k = &all->place[place];
		uint64_t function = atomic_load_explicit(&k->function, memory_order_acquire);
		uint64_t latest = latest_of(k), older = load(&k->older.latest), complete = load(&k->complete);
		uint64_t context = load(&k->context), stream = load(&k->stream);

		/* All of it, or what is older; a place that changes hands meanwhile keeps what it has. */
		if (n && latest > complete && !is_proven(context, stream, latest))
			latest = older;
		if (latest <= complete || (n && !(function && is_proven(context, stream, latest))) ||
		    load(&k->function) != function)
			continue;
		/* It was not proven before this thread saw that it is. */
		gmod_ticks_after_reads();
		store(&k->complete_since, gmod_ticks());
		atomic_store_explicit(&k->complete, latest, memory_order_release);
	}
}

/* Of what is recent, and of what is done. */
static void read_marks(const struct gmod_kernel *k, const struct gmod_marks *m, bool recent, bool done,
		       uint64_t marks[GMOD_MARK_WORDS])
{
	uint64_t first = load(&k->newest.first);

	for (int i = 0; i < GMOD_MARK_WORDS; i++)
		marks[i] = recent ? load(&m->recent[i]) : 0;
	/* acquire fence: with the release fence of who moved them meanwhile */
	atomic_thread_fence(memory_order_acquire);
	done |= load(&k->newest.first) != first || !load(&k->newest.count);
	for (int i = 0; i < GMOD_MARK_WORDS; i++)
		marks[i] |= done ? load(&m->done[i]) : 0;
}

static struct plain_span not_complete(const struct gmod_kernel *k, const struct gmod_marks *m, uint64_t at,
				      uint64_t marks[GMOD_MARK_WORDS])
{
	struct plain_span newest = get_span(&k->newest), older = get_span(&k->older), done = get_span(&k->done);
	/* acquire: the time is that of this note, or of a later one */
	uint64_t complete = atomic_load_explicit(&k->complete, memory_order_acquire), since = load(&k->complete_since);

	if (since <= at && newest.latest <= complete)
		newest.count = 0;
	if (since <= at && older.latest <= complete)
		older.count = 0;
	if (load(&k->done_since) <= at)
		done.count = 0;
	read_marks(k, m, newest.count || older.count, done.count, marks);
	return both_spans(newest, both_spans(older, done));
}

static bool see_kernel(const struct gmod_kernels *all, unsigned place, uint64_t at, struct gmod_seen_launches *out)
{
	const struct gmod_kernel *k = &all->place[place];
	struct plain_span span;

	/* acquire: the rest is this function's, or a later one's, and then so is the word below */
	out->function = atomic_load_explicit(&k->function, memory_order_acquire);
	out->stream = load(&k->stream);
	out->context = load(&k->context);
	out->is_graph = atomic_load_explicit(&k->is_graph, memory_order_relaxed);
	out->has_no_place = place == GMOD_NO_PLACE;
	span = not_complete(k, &all->marks[place], at, out->marks);
	out->first = span.first;
	out->latest = span.latest;
	out->count = span.count;
	atomic_thread_fence(memory_order_acquire);
	return out->count && (out->function || out->has_no_place) && load(&k->function) == out->function;
}

bool gmod_kernels_next(const struct gmod_thread *t, uint64_t at, uint32_t *i, struct gmod_seen_launches *seen)
{
	const struct gmod_kernels *all = atomic_load_explicit(&t->kernels, memory_order_acquire);
	uint32_t used = all ? atomic_load_explicit(&all->used, memory_order_acquire) : 0;

	*seen = (struct gmod_seen_launches){.thread = t, .number = GMOD_NO_NUMBER};
	while (all && *i <= used) {
		uint32_t n = (*i)++;
		unsigned place = n ? atomic_load_explicit(&all->order[n - 1], memory_order_relaxed) : GMOD_NO_PLACE;

		if (see_kernel(all, place, at, seen))
			return true;
	}
	return false;
}

uint64_t gmod_kernels_forgotten(const struct gmod_thread *t, uint64_t at)
{
	const struct gmod_kernels *all = atomic_load_explicit(&t->kernels, memory_order_acquire);
	uint64_t forgotten = all ? atomic_load_explicit(&all->forgotten, memory_order_acquire) : 0;

	return forgotten > at ? forgotten : 0;
}
