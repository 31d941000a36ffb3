#include "monitor/watch.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/heap.h"
#include "lib/process.h"
#include "lib/start.h"
#include "monitor/activity.h"
#include "monitor/halt.h"
#include "monitor/report.h"
#include "monitor/suspects.h"

enum { WATCHES = 256 };

/* One damaged side between its first sight and its final report. */
struct watch {
	bool used;
	uint32_t position;
	uint64_t generation; /* of the record's word */
	enum gmod_side side;
	struct gmod_diff diff; /* union of all sightings */
	uint64_t grown_ns;     /* when it last grew */
	uint64_t slack_ns;     /* latest look at the slack; UINT64_MAX: the side has none */
	struct gmod_finding finding;
};

/*
 * Guarded by lock. Findings are rare, so one lock serves; it is held for memory work only, never across a report or
 * a driver call.
 */
static struct watch *watches;
static _Atomic int pending;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static _Atomic uint32_t last_id;
static _Atomic unsigned seen_count;

static void take_lock(void)
{
	while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
		sched_yield();
}

static void drop_lock(void)
{
	atomic_flag_clear_explicit(&lock, memory_order_release);
}

struct gmod_moment gmod_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (struct gmod_moment){(uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, gmod_ticks()};
}

uint32_t gmod_watch_next_id(void)
{
	atomic_fetch_add_explicit(&seen_count, 1, memory_order_relaxed);
	return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

unsigned gmod_watch_seen(void)
{
	return atomic_load_explicit(&seen_count, memory_order_relaxed);
}

bool gmod_watch_pending(void)
{
	return atomic_load_explicit(&pending, memory_order_relaxed) > 0;
}

static struct watch *find(uint32_t position, uint64_t word, enum gmod_side side)
{
	for (int i = 0; watches && i < WATCHES; i++)
		if (watches[i].used && watches[i].generation == word >> 2 && watches[i].position == position &&
		    watches[i].side == side)
			return &watches[i];
	return NULL;
}

static struct watch *find_free(void)
{
	if (!watches) {
		void *p =
		    mmap(NULL, WATCHES * sizeof(*watches), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return NULL;
		watches = p;
	}
	for (int i = 0; i < WATCHES; i++)
		if (!watches[i].used)
			return &watches[i];
	return NULL;
}

static void describe_diff(struct gmod_finding *f, const struct gmod_diff *d)
{
	uint64_t end = f->buffer.base + f->buffer.size;
	bool tail = f->class == GMOD_HEAP_BUFFER_OVERFLOW;

	f->offset = (int64_t)(d->first - (tail ? end : f->buffer.base));
	f->changed = d->changed;
	f->extent = d->last - d->first + 1;
}

static void describe(struct gmod_finding *f, const struct gmod_sighting *s)
{
	memset(f, 0, sizeof(*f));
	f->id = gmod_watch_next_id();
	f->class = s->side == GMOD_TAIL ? GMOD_HEAP_BUFFER_OVERFLOW : GMOD_HEAP_BUFFER_UNDERFLOW;
	gmod_heap_facts(s->record, &f->buffer);
	f->observed_count = s->observed_count < GMOD_OBSERVED_MAX ? s->observed_count : GMOD_OBSERVED_MAX;
	memcpy(f->observed, s->observed, f->observed_count);
	f->intact_ns = s->intact.ns;
	f->seen_ns = s->seen.ns;
	describe_diff(f, &s->diff);
	gmod_suspects_find(f, s->intact.ticks);
}

static void merge(struct watch *w, const struct gmod_sighting *s)
{
	struct gmod_diff *d = &w->diff;
	bool grown = s->diff.first < d->first || s->diff.last > d->last || s->diff.changed > d->changed;

	w->finding.restored = false;
	if (!grown)
		return;
	if (s->diff.first < d->first) {
		d->first = s->diff.first;
		w->finding.observed_count =
		    s->observed_count < GMOD_OBSERVED_MAX ? s->observed_count : GMOD_OBSERVED_MAX;
		memcpy(w->finding.observed, s->observed, w->finding.observed_count);
	}
	if (s->diff.last > d->last)
		d->last = s->diff.last;
	if (s->diff.changed > d->changed)
		d->changed = s->diff.changed;
	w->grown_ns = s->seen.ns;
	describe_diff(&w->finding, d);
}

static void mark_reported(struct gmod_record *r, enum gmod_side side)
{
	atomic_fetch_or_explicit(&gmod_record_details(r)->reported, 1u << side, memory_order_relaxed);
}

static bool is_reported(const struct gmod_record *r, enum gmod_side side)
{
	return atomic_load_explicit(&gmod_record_details(r)->reported, memory_order_relaxed) >> side & 1;
}

static void say(struct gmod_finding *f, enum gmod_finding_status status)
{
	f->status = status;
	gmod_report(f);
	if (status == GMOD_FINAL)
		gmod_halt_if_asked();
}

static bool has_slack(const struct gmod_record *r, enum gmod_side side)
{
	const struct gmod_bounds *b = &r->bounds;

	return side == GMOD_HEAD ? b->head_to < b->user : b->user + b->size < b->tail_from;
}

static void first_sight(const struct gmod_sighting *s)
{
	bool settled = !gmod_work_outstanding();
	struct gmod_finding f;
	struct watch *w = NULL;

	describe(&f, s);
	if (!s->last) {
		take_lock();
		w = find_free();
		if (w) {
			*w = (struct watch){.used = true,
					    .position = s->record->position,
					    .generation = s->word >> 2,
					    .side = s->side,
					    .diff = s->diff,
					    .grown_ns = s->seen.ns,
					    .slack_ns = has_slack(s->record, s->side) ? 0 : UINT64_MAX,
					    .finding = f};
			atomic_fetch_add_explicit(&pending, 1, memory_order_relaxed);
		}
		drop_lock();
	}
	if (!w) {
		mark_reported(s->record, s->side);
		say(&f, GMOD_FINAL);
	} else if (!settled) {
		say(&f, GMOD_PROVISIONAL);
	}
}

/* Take the finding out of its watch; the report is given without the lock. */
static struct gmod_finding conclude(struct watch *w)
{
	struct gmod_finding f = w->finding;
	struct gmod_record *r = gmod_record_at(w->position);

	if (atomic_load_explicit(&r->word, memory_order_relaxed) >> 2 == w->generation)
		mark_reported(r, w->side);
	w->used = false;
	atomic_fetch_sub_explicit(&pending, 1, memory_order_relaxed);
	return f;
}

void gmod_watch_sighting(const struct gmod_sighting *s)
{
	struct gmod_finding f;
	bool known, reported, final = false;
	struct watch *w;

	take_lock();
	/* Under the lock: what is taken out of its watch is marked as reported in the same breath. */
	reported = is_reported(s->record, s->side);
	w = find(s->record->position, s->word, s->side);
	known = w != NULL;
	if (known) {
		merge(w, s);
		final = s->last;
		if (final)
			f = conclude(w);
	}
	drop_lock();
	if (!known && !reported)
		first_sight(s);
	else if (final)
		say(&f, GMOD_FINAL);
}

void gmod_watch_intact(const struct gmod_record *r, uint64_t word, enum gmod_side side, uint64_t from, uint64_t to)
{
	struct watch *w;

	if (!gmod_watch_pending())
		return;
	take_lock();
	w = find(r->position, word, side);
	if (w && from <= w->diff.first && w->diff.last < to)
		w->finding.restored = true;
	drop_lock();
}

/* settled: no work is outstanding, or nobody may wait and see. A slack that cannot be read holds nothing up for long.
 */
static bool is_due(const struct watch *w, uint64_t now, bool settled, bool all)
{
	uint64_t quiet = now - w->grown_ns;

	if (!w->used || all)
		return w->used;
	if (quiet > 3 * GMOD_WATCH_SETTLE_NS)
		return true;
	return w->slack_ns >= w->grown_ns && (settled || quiet > GMOD_WATCH_SETTLE_NS);
}

void gmod_watch_slack_seen(const struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_moment when)
{
	struct watch *w;

	if (!gmod_watch_pending())
		return;
	take_lock();
	w = find(r->position, word, side);
	if (w && w->slack_ns < when.ns)
		w->slack_ns = when.ns;
	drop_lock();
}

bool gmod_watch_wants_slack(void)
{
	bool wants = false;

	if (!gmod_watch_pending())
		return false;
	take_lock();
	for (int i = 0; i < WATCHES; i++)
		wants |= watches[i].used && watches[i].slack_ns < watches[i].grown_ns;
	drop_lock();
	return wants;
}

void gmod_watch_recheck(void (*look)(uint32_t position, uint64_t generation))
{
	for (int i = 0; i < WATCHES && gmod_watch_pending(); i++) {
		uint64_t generation;
		uint32_t position;
		bool used;

		take_lock();
		used = watches[i].used;
		position = watches[i].position;
		generation = watches[i].generation;
		drop_lock();
		if (used)
			look(position, generation);
	}
}

void gmod_watch_settle(bool all)
{
	uint64_t now = gmod_now().ns;
	bool settled;

	if (!gmod_watch_pending())
		return;
	settled = gmod_options()->halt_on_error || !gmod_work_outstanding();
	for (int i = 0; i < WATCHES; i++) {
		/* Taken out of its watch, the finding is nowhere else until it is said. */
		struct gmod_busy busy = gmod_busy_begin();
		struct gmod_finding f;
		bool due;

		take_lock();
		due = is_due(&watches[i], now, settled, all);
		if (due)
			f = conclude(&watches[i]);
		drop_lock();
		if (due)
			say(&f, GMOD_FINAL);
		gmod_busy_end(busy);
	}
}

void gmod_watch_released(const struct gmod_record *r, uint64_t word)
{
	for (int side = GMOD_HEAD; side <= GMOD_TAIL; side++) {
		struct gmod_finding f;
		struct watch *w;

		if (!gmod_watch_pending())
			return;
		take_lock();
		w = find(r->position, word, (enum gmod_side)side);
		if (w)
			f = conclude(w);
		drop_lock();
		if (w)
			say(&f, GMOD_FINAL);
	}
}
