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

enum { WATCHES = GMOD_DAMAGES };

/*
 * One damaged side between its first sight and its final report:
 *
 *     NOTHING ──claim_watch──► CLAIMED ──open_watch──► OPEN ──conclude_watch──► NOTHING
 *
 * A claim and a conclusion are under the lock, and so is what is seen while it is OPEN. While it is CLAIMED it belongs
 * to the thread that saw the damage, and stays as that thread has seen it. A side is claimed once: its bit in
 * gmod_details.reported says so. What is seen for the last time, or has no room here, is not watched but told at once.
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

/* A side has one at most. */
static struct watch *find_open(uint32_t position, uint64_t word, enum gmod_side side)
{
	for (int i = 0; watches && i < WATCHES; i++)
		if (state_of(&watches[i]) == OPEN && watches[i].generation == word >> 2 &&
		    watches[i].position == position && watches[i].side == side)
			return &watches[i];
	return NULL;
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

/* *known: what has changed so far, nothing at first. The bytes shown are those of the sighting with the first of it. */
static void add_sighting(struct gmod_finding *f, struct gmod_diff *known, const struct gmod_sighting *s)
{
	bool tail = f->class == GMOD_HEAP_BUFFER_OVERFLOW;

	if (!known->changed || s->diff.first < known->first) {
		uint64_t first = s->diff.first, extent = s->diff.last - first + 1;

		known->first = first;
		f->observed_count = extent < s->observed_count ? (uint32_t)extent : s->observed_count;
		memcpy(f->observed, s->observed, f->observed_count);
		gmod_canary_bytes(&s->details->canary[s->side], first, first + f->observed_count, f->expected);
	}
	if (s->diff.last > known->last)
		known->last = s->diff.last;
	if (s->diff.changed > known->changed)
		known->changed = s->diff.changed;
	f->offset = (int64_t)(known->first - f->buffer.base - (tail ? f->buffer.size : 0));
	f->changed = known->changed;
	f->extent = known->last - known->first + 1;
}

/* apart: NULL: there is no memory for the suspects, which are only counted then. */
static void describe(struct gmod_finding *f, struct gmod_diff *known, const struct gmod_sighting *s,
		     struct apart *apart)
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
	f->intact_ns = s->intact.ns;
	f->seen_ns = s->seen.ns;
	add_sighting(f, known, s);
	gmod_suspects_find(f, &(struct gmod_window){s->intact.ticks, s->stream, s->from, s->to},
			   apart ? &apart->unfinished : NULL);
}

/* Under the lock: a watch for the side, unless there is nothing more to see or no room. */
static struct watch *claim_watch(const struct gmod_sighting *s)
{
	struct gmod_range slack = gmod_near_slack(&s->record->bounds, s->side);
	int i = 0;

	if (!watches)
		watches = gmod_map(WATCHES * (sizeof(*watches) + sizeof(*watches->apart)));
	if (s->last || !watches)
		return NULL;
	while (i < WATCHES && state_of(&watches[i]) != NOTHING)
		i++;
	if (i == WATCHES)
		return NULL;
	watches[i] = (struct watch){
	    .state = CLAIMED,
	    .position = s->record->position,
	    .generation = s->word >> 2,
	    .side = s->side,
	    .grown_ns = s->seen.ns,
	    .slack_ns = slack.from < slack.to ? 0 : UINT64_MAX,
	    .apart = (struct apart *)(watches + WATCHES) + i,
	};
	atomic_fetch_add_explicit(&pending, 1, memory_order_relaxed);
	return &watches[i];
}

static void (*listener)(const struct gmod_finding *f, struct gmod_record *r, uint64_t word);

void gmod_damage_listen(void (*told)(const struct gmod_finding *f, struct gmod_record *r, uint64_t word))
{
	listener = told;
}

/* word: the record's while it is the buffer's; 0: that is gone. */
static void say_final(struct gmod_finding *f, struct gmod_record *r, uint64_t word)
{
	f->status = GMOD_FINAL;
	gmod_report_add(f);
	if (listener && f->suspect_count > 1)
		listener(f, r, word);
}

static void say_at_once(const struct gmod_sighting *s, uint32_t id)
{
	struct apart *apart = gmod_map(sizeof(*apart));
	struct gmod_diff known = {0};
	struct gmod_finding f;

	describe(&f, &known, s, apart);
	f.id = id;
	say_final(&f, s->record, 0);
	if (apart)
		munmap(apart, sizeof(*apart));
}

static void open_watch(struct watch *w, const struct gmod_sighting *s, uint32_t id)
{
	bool settled = !gmod_work_outstanding();

	describe(&w->finding, &w->diff, s, w->apart);
	w->finding.id = id;
	if (!settled) {
		w->finding.status = GMOD_PROVISIONAL;
		gmod_report_add(&w->finding);
	}
	/* release: see state_of(). From here on others may have it grow, or conclude it. */
	atomic_store_explicit(&w->state, OPEN, memory_order_release);
}

static void grow_watch(struct watch *w, const struct gmod_sighting *s)
{
	const struct gmod_diff *d = &w->diff;

	w->finding.restored = false;
	if (s->diff.first >= d->first && s->diff.last <= d->last && s->diff.changed <= d->changed)
		return;
	w->grown_ns = s->seen.ns;
	add_sighting(&w->finding, &w->diff, s);
}

static void conclude_watch(struct watch *w)
{
	gmod_suspects_refresh(&w->finding, &w->apart->unfinished);
	say_final(&w->finding, gmod_record_at(w->position), w->generation << 2 | GMOD_LIVE);
	atomic_store_explicit(&w->state, NOTHING, memory_order_relaxed);
	/* release: whoever finds nothing pending may count on the report being on its way */
	atomic_fetch_sub_explicit(&pending, 1, memory_order_release);
}

void gmod_damage_sighting(const struct gmod_sighting *s)
{
	uint32_t id = 0, bit = 1u << s->side;
	struct watch *known, *fresh = NULL;
	struct gmod_scope scope;

	if (!begin(&scope))
		return;
	known = find_open(s->record->position, s->word, s->side);
	if (known)
		grow_watch(known, s);
	if (known && s->last)
		conclude_watch(known);
	if (!known && !(atomic_fetch_or_explicit(&s->details->reported, bit, memory_order_relaxed) & bit)) {
		id = gmod_finding_next_id();
		fresh = claim_watch(s);
	}
	gmod_unlock(&lock);
	if (fresh)
		open_watch(fresh, s, id);
	else if (id)
		say_at_once(s, id);
	end(&scope);
}

void gmod_damage_intact(const struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_range bytes)
{
	struct gmod_scope scope;
	struct watch *w;

	if (!gmod_damage_pending() || !begin(&scope))
		return;
	w = find_open(r->position, word, side);
	if (w && bytes.from <= w->diff.first && w->diff.last < bytes.to)
		w->finding.restored = true;
	unlock_and_end(&scope);
}

/* Since when nothing runs, 0 while something does, as of the latest gmod_damage_settle(). */
static _Atomic uint64_t rests_since;

/* When a look at the slack has to begin, or later, that the final report may rely on: what grows is in it then. */
static uint64_t look_due(const struct watch *w, uint64_t now)
{
	uint64_t rests = atomic_load_explicit(&rests_since, memory_order_relaxed);

	if (rests > w->grown_ns)
		return rests;
	return now - w->grown_ns > GMOD_DAMAGE_SETTLE_NS ? w->grown_ns + GMOD_DAMAGE_SETTLE_NS : w->grown_ns;
}

/* settled: no work is outstanding, or nobody may wait and see. A slack that cannot be read holds nothing up for long.
 */
static bool is_due(const struct watch *w, uint64_t now, bool settled)
{
	uint64_t quiet = now - w->grown_ns;

	return quiet > 3 * GMOD_DAMAGE_SETTLE_NS ||
	       (w->slack_ns >= look_due(w, now) && (settled || quiet > GMOD_DAMAGE_SETTLE_NS));
}

void gmod_damage_slack_seen(const struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_moment when)
{
	struct gmod_scope scope;
	struct watch *w;

	if (!gmod_damage_pending() || !begin(&scope))
		return;
	w = find_open(r->position, word, side);
	if (w && w->slack_ns < when.ns)
		w->slack_ns = when.ns;
	unlock_and_end(&scope);
}

unsigned gmod_damage_open(bool wants_slack, uint32_t *positions, unsigned most)
{
	struct gmod_scope scope;
	unsigned n = 0;
	uint64_t now;

	if (!gmod_damage_pending() || !begin(&scope))
		return 0;
	now = gmod_now().ns;
	for (int i = 0; i < WATCHES && n < most; i++)
		if (state_of(&watches[i]) == OPEN && (!wants_slack || watches[i].slack_ns < look_due(&watches[i], now)))
			positions[n++] = watches[i].position;
	unlock_and_end(&scope);
	return n;
}

void gmod_damage_settle(bool all)
{
	static _Atomic uint64_t activity;
	uint64_t now = gmod_now().ns, total = gmod_activity_total();
	bool same = atomic_exchange_explicit(&activity, total, memory_order_relaxed) == total;
	bool rests = !gmod_work_outstanding(), settled = rests || gmod_options()->halt_on_error;

	if (!rests || !same || !atomic_load_explicit(&rests_since, memory_order_relaxed))
		atomic_store_explicit(&rests_since, rests ? now : 0, memory_order_relaxed);
	for (int i = 0; i < WATCHES && gmod_damage_pending(); i++) {
		struct gmod_scope scope;

		if (!begin(&scope))
			return;
		/* Now: others may have opened it since. */
		if (state_of(&watches[i]) == OPEN && (all || is_due(&watches[i], gmod_now().ns, settled)))
			conclude_watch(&watches[i]);
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
		if ((w = find_open(r->position, word, (enum gmod_side)side)))
			conclude_watch(w);
	unlock_and_end(&scope);
}
