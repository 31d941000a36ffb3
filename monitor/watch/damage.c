#include "monitor/watch/damage.h"

#include <string.h>

#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "lib/base/facts.h"
#include "lib/base/map.h"
#include "lib/base/phase.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/report/report.h"
#include "monitor/launches/suspects.h"
#include "monitor/registry/freed.h"
#include "monitor/registry/index.h"

/* ---- what is known of each damaged side ---- */

enum { WATCHES = 256 };

/*
 * One damaged side between its first sight and its final report:
 *
 *     NOTHING ──claim──► CLAIMED ──described──► OPEN ──conclude──► NOTHING
 *
 * claim and conclude are under the lock. While it is CLAIMED it belongs to the thread that saw the damage.
 */
enum { NOTHING, CLAIMED, OPEN };
struct watch {
	atomic_int state;
	uint32_t position;
	uint64_t generation; /* of the record's word */
	enum gmod_side side;
	struct gmod_diff diff; /* union of all sightings */
	uint64_t grown_ns;     /* when it last grew */
	uint64_t slack_ns;     /* when the latest look at the slack began; UINT64_MAX: the side has none */
	struct gmod_finding finding;
	struct apart *apart; /* its own: most looks at a watch do not need it */
};

struct apart {
	struct gmod_unfinished unfinished;
	struct gmod_suspect suspect[GMOD_SUSPECTS_MAX];
};

/*
 * Guarded by lock. Findings are rare, so one lock serves; it is held for memory work only, never across a report or
 * a driver call, and with signals held off. Whoever cannot get it has nothing to say.
 */
static struct watch *watches;
static _Atomic int pending;
static atomic_flag lock = ATOMIC_FLAG_INIT;

/* Until end(), what was sighted may be known to this thread only. */
static void end(const struct gmod_scope *scope)
{
	gmod_report_pending_end();
	gmod_report_flush();
	gmod_scope_end(scope);
}

static bool begin(struct gmod_scope *scope)
{
	gmod_scope_begin(scope);
	gmod_report_pending_begin();
	if (gmod_lock(&lock))
		return true;
	gmod_degraded("the lock of the findings");
	end(scope);
	return false;
}

static void unlock_and_end(const struct gmod_scope *scope)
{
	gmod_unlock(&lock);
	end(scope);
}

bool gmod_damage_pending(void)
{
	return atomic_load_explicit(&pending, memory_order_acquire) > 0;
}

static int state_of(const struct watch *w)
{
	/* acquire: the thread that it belonged to is done with the rest */
	return atomic_load_explicit(&w->state, memory_order_acquire);
}

static void set_state(struct watch *w, int state)
{
	/* release: see state_of() */
	atomic_store_explicit(&w->state, state, memory_order_release);
}

/* A side has one at most. */
static struct watch *find_any(uint32_t position, uint64_t word, enum gmod_side side)
{
	for (int i = 0; watches && i < WATCHES; i++)
		if (state_of(&watches[i]) != NOTHING && watches[i].generation == word >> 2 &&
		    watches[i].position == position && watches[i].side == side)
			return &watches[i];
	return NULL;
}

static struct watch *find(uint32_t position, uint64_t word, enum gmod_side side)
{
	struct watch *w = find_any(position, word, side);

	return w && state_of(w) == OPEN ? w : NULL;
}

static struct watch *find_free(void)
{
	if (!watches)
		watches = gmod_map(WATCHES * (sizeof(*watches) + sizeof(*watches->apart)));
	for (int i = 0; watches && i < WATCHES; i++)
		if (state_of(&watches[i]) == NOTHING)
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

/*
 * What lies behind a buffer without zones may be the next one's to write by mistake: the one that is nearer did. It may
 * have been freed since.
 */
static bool find_behind(const struct gmod_sighting *s, struct gmod_buffer_facts *behind)
{
	const struct gmod_bounds *b = &s->record->bounds;

	if (s->side != GMOD_TAIL || gmod_has_zones(b) ||
	    b->tail_to - 1 - s->diff.last >= s->diff.first - b->user - b->size)
		return false;
	if (gmod_index_facts_at(b->tail_to, behind) && behind->allocated_ns <= s->seen.ns)
		return true;
	return gmod_freed_find(b->tail_to, behind) && behind->freed_ns >= s->intact.ns;
}

static void describe_bytes(struct gmod_finding *f, const struct gmod_sighting *s)
{
	uint64_t first = s->diff.first, extent = s->diff.last - first + 1;

	f->observed_count = extent < s->observed_count ? (uint32_t)extent : s->observed_count;
	memcpy(f->observed, s->observed, f->observed_count);
	gmod_canary_bytes(&s->details->canary[s->side], first, first + f->observed_count, f->expected);
}

/* apart: NULL: there is no memory for the suspects, which are only counted then. */
static void describe(struct gmod_finding *f, const struct gmod_sighting *s, struct apart *apart)
{
	struct gmod_buffer_facts behind;

	memset(f, 0, sizeof(*f));
	f->suspect = apart ? apart->suspect : NULL;
	f->suspect_room = apart ? GMOD_SUSPECTS_MAX : 0;
	f->class = s->side == GMOD_TAIL ? GMOD_HEAP_BUFFER_OVERFLOW : GMOD_HEAP_BUFFER_UNDERFLOW;
	f->buffer = gmod_record_facts(s->record);
	if (s->details->kept_back) {
		f->class = GMOD_USE_AFTER_FREE;
		if (gmod_freed_find(f->buffer.base, &behind))
			f->buffer = behind;
	} else if (find_behind(s, &behind)) {
		f->class = GMOD_HEAP_BUFFER_UNDERFLOW;
		f->past_front = s->diff.first - f->buffer.base - f->buffer.size;
		f->front_size = f->buffer.size;
		f->buffer = behind;
	}
	describe_bytes(f, s);
	f->intact_ns = s->intact.ns;
	f->seen_ns = s->seen.ns;
	describe_diff(f, &s->diff);
	gmod_suspects_find(f, &(struct gmod_window){s->intact.ticks, s->stream, s->from, s->to},
			   apart ? &apart->unfinished : NULL);
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
		describe_bytes(&w->finding, s);
	}
	if (s->diff.last > d->last)
		d->last = s->diff.last;
	if (s->diff.changed > d->changed)
		d->changed = s->diff.changed;
	w->grown_ns = s->seen.ns;
	describe_diff(&w->finding, d);
}

static void mark_reported(struct gmod_details *d, enum gmod_side side)
{
	atomic_fetch_or_explicit(&d->reported, 1u << side, memory_order_relaxed);
}

static bool is_reported(const struct gmod_details *d, enum gmod_side side)
{
	return atomic_load_explicit(&d->reported, memory_order_relaxed) >> side & 1;
}

static void say(struct gmod_finding *f, enum gmod_finding_status status)
{
	f->status = status;
	gmod_report_add(f);
}

/* Has the side slack that a gather looks at? */
static bool is_gathered(const struct gmod_sighting *s)
{
	struct gmod_range slack = gmod_near_slack(&s->record->bounds, s->side);

	return slack.from < slack.to;
}

/* Under the lock: a watch for the side, unless there is nothing more to see or no room. */
static struct watch *claim(const struct gmod_sighting *s)
{
	struct watch *w = s->last ? NULL : find_free();

	if (!w) {
		mark_reported(s->details, s->side);
		return NULL;
	}
	w->position = s->record->position;
	w->generation = s->word >> 2;
	w->side = s->side;
	w->diff = s->diff;
	w->grown_ns = s->seen.ns;
	w->slack_ns = is_gathered(s) ? 0 : UINT64_MAX;
	w->apart = (struct apart *)(watches + WATCHES) + (w - watches);
	set_state(w, CLAIMED);
	atomic_fetch_add_explicit(&pending, 1, memory_order_relaxed);
	return w;
}

static void say_at_once(const struct gmod_sighting *s, uint32_t id)
{
	struct apart *apart = gmod_map(sizeof(*apart));
	struct gmod_finding f;

	describe(&f, s, apart);
	f.id = id;
	say(&f, GMOD_FINAL);
	if (apart)
		munmap(apart, sizeof(*apart));
}

static void watch(struct watch *w, const struct gmod_sighting *s, uint32_t id)
{
	bool settled = !gmod_work_outstanding();

	describe(&w->finding, s, w->apart);
	w->finding.id = id;
	if (!settled)
		say(&w->finding, GMOD_PROVISIONAL);
	/* From here on others may have it grow, or conclude it. */
	set_state(w, OPEN);
}

/* Under the lock: the final report of one that is OPEN. */
static void conclude(struct watch *w)
{
	struct gmod_record *r = gmod_record_at(w->position);

	if (atomic_load_explicit(&r->word, memory_order_relaxed) >> 2 == w->generation)
		mark_reported(gmod_record_details(r), w->side);
	gmod_suspects_refresh(&w->finding, &w->apart->unfinished);
	say(&w->finding, GMOD_FINAL);
	set_state(w, NOTHING);
	/* release: whoever finds nothing pending may count on the report being on its way */
	atomic_fetch_sub_explicit(&pending, 1, memory_order_release);
}

void gmod_damage_sighting(const struct gmod_sighting *s)
{
	struct gmod_scope scope;
	struct watch *known, *fresh = NULL;
	uint32_t id = 0;

	if (!begin(&scope))
		return;
	known = find_any(s->record->position, s->word, s->side);
	if (!known && !is_reported(s->details, s->side)) {
		id = gmod_finding_next_id();
		fresh = claim(s);
	}
	/* One that another thread describes stays as that thread has seen it. */
	if (known && state_of(known) != OPEN)
		known = NULL;
	if (known)
		merge(known, s);
	if (known && s->last)
		conclude(known);
	gmod_unlock(&lock);
	if (fresh)
		watch(fresh, s, id);
	else if (id)
		say_at_once(s, id);
	end(&scope);
}

void gmod_damage_intact(const struct gmod_record *r, uint64_t word, enum gmod_side side, uint64_t from, uint64_t to)
{
	struct gmod_scope scope;
	struct watch *w;

	if (!gmod_damage_pending() || !begin(&scope))
		return;
	w = find(r->position, word, side);
	if (w && from <= w->diff.first && w->diff.last < to)
		w->finding.restored = true;
	unlock_and_end(&scope);
}

/* Since when nothing runs, 0 while something does, as of the latest gmod_damage_settle(). */
static _Atomic uint64_t rests_since;

static void note_rest(uint64_t now)
{
	static _Atomic uint64_t activity;
	uint64_t total = gmod_activity_total();
	bool same = atomic_exchange_explicit(&activity, total, memory_order_relaxed) == total;

	if (gmod_work_outstanding())
		atomic_store_explicit(&rests_since, 0, memory_order_relaxed);
	else if (!same || !atomic_load_explicit(&rests_since, memory_order_relaxed))
		atomic_store_explicit(&rests_since, now, memory_order_relaxed);
}

static bool is_quiet(const struct watch *w, uint64_t now)
{
	return now > w->grown_ns && now - w->grown_ns > GMOD_DAMAGE_SETTLE_NS;
}

/* When a look at the slack has to begin, or later, that the final report may rely on: what grows is in it then. */
static uint64_t look_due(const struct watch *w, uint64_t now)
{
	uint64_t rests = atomic_load_explicit(&rests_since, memory_order_relaxed);

	if (rests > w->grown_ns)
		return rests;
	return is_quiet(w, now) ? w->grown_ns + GMOD_DAMAGE_SETTLE_NS : w->grown_ns;
}

/* settled: no work is outstanding, or nobody may wait and see. A slack that cannot be read holds nothing up for long.
 */
static bool is_due(const struct watch *w, uint64_t now, bool settled, bool all)
{
	if (state_of(w) != OPEN || all)
		return state_of(w) == OPEN;
	if (now - w->grown_ns > 3 * GMOD_DAMAGE_SETTLE_NS)
		return true;
	return w->slack_ns >= look_due(w, now) && (settled || is_quiet(w, now));
}

void gmod_damage_slack_seen(const struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_moment when)
{
	struct gmod_scope scope;
	struct watch *w;

	if (!gmod_damage_pending() || !begin(&scope))
		return;
	w = find(r->position, word, side);
	if (w && w->slack_ns < when.ns)
		w->slack_ns = when.ns;
	unlock_and_end(&scope);
}

unsigned gmod_damage_wants_slack(uint32_t *positions, unsigned most)
{
	struct gmod_scope scope;
	unsigned n = 0;
	uint64_t now;

	if (!gmod_damage_pending() || !begin(&scope))
		return 0;
	now = gmod_now().ns;
	for (int i = 0; i < WATCHES && n < most; i++)
		if (state_of(&watches[i]) == OPEN && watches[i].slack_ns < look_due(&watches[i], now))
			positions[n++] = watches[i].position;
	unlock_and_end(&scope);
	return n;
}

void gmod_damage_recheck(void (*look)(uint32_t position, uint64_t generation))
{
	for (int i = 0; i < WATCHES && gmod_damage_pending(); i++) {
		struct gmod_scope scope;
		uint64_t generation;
		uint32_t position;
		bool open;

		if (!begin(&scope))
			return;
		open = state_of(&watches[i]) == OPEN;
		position = watches[i].position;
		generation = watches[i].generation;
		unlock_and_end(&scope);
		if (open)
			look(position, generation);
	}
}

void gmod_damage_settle(bool all)
{
	bool settled;

	note_rest(gmod_now().ns);
	if (!gmod_damage_pending())
		return;
	settled = gmod_options()->halt_on_error || !gmod_work_outstanding();
	for (int i = 0; i < WATCHES && gmod_damage_pending(); i++) {
		struct gmod_scope scope;

		if (!begin(&scope))
			return;
		/* Now: others may have opened it since. */
		if (is_due(&watches[i], gmod_now().ns, settled, all))
			conclude(&watches[i]);
		unlock_and_end(&scope);
	}
}

void gmod_damage_released(const struct gmod_record *r, uint64_t word)
{
	struct gmod_scope scope;
	struct watch *w;

	if (!gmod_damage_pending() || !begin(&scope))
		return;
	for (int side = GMOD_HEAD; side <= GMOD_TAIL; side++)
		if ((w = find(r->position, word, (enum gmod_side)side)))
			conclude(w);
	unlock_and_end(&scope);
}
