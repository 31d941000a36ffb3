#include "monitor/watch/verify.h"

#include <string.h>

#include "lib/base/phase.h"
#include "monitor/watch/swept.h"

struct range {
	uint64_t from, to;
};

static struct range visible_zone(const struct gmod_record *r, enum gmod_side side)
{
	const struct gmod_bounds *b = &r->bounds;

	return side == GMOD_HEAD ? (struct range){b->head_from, b->head_to} : (struct range){b->tail_from, b->tail_to};
}

static struct range whole_zone(const struct gmod_record *r, enum gmod_side side)
{
	const struct gmod_bounds *b = &r->bounds;

	return side == GMOD_HEAD ? (struct range){b->head_from, b->user}
				 : (struct range){b->user + b->size, b->tail_to};
}

/* The part of the slack that every gather looks at. */
static struct range gathered_zone(const struct gmod_record *r, enum gmod_side side)
{
	const struct gmod_bounds *b = &r->bounds;

	return side == GMOD_HEAD ? (struct range){gmod_near_slack_from(b), b->user}
				 : (struct range){b->user + b->size, b->tail_from};
}

static struct range line_of(const struct gmod_record *r, enum gmod_side side)
{
	const struct gmod_bounds *b = &r->bounds;

	return side == GMOD_HEAD ? (struct range){b->head_to - GMOD_LINE, b->head_to}
				 : (struct range){b->tail_from, b->tail_from + GMOD_LINE};
}

static bool overlaps(const struct gmod_diff *d, struct range x)
{
	return d->first < x.to && d->last >= x.from;
}

/* How a side is being looked at. */
struct look {
	struct gmod_record *record;
	struct gmod_details *details;
	uint64_t word;
	enum gmod_side side;
	struct gmod_moment swept;
	bool last;
};

/*
 * When the changed bytes were last known intact. The line beside the user's bytes was compared by every sweep, slack
 * beside them by every gather; what lies further out was surely intact only when it was written.
 */
static struct gmod_moment intact_since(const struct look *l, const struct gmod_diff *d)
{
	const struct gmod_details *details = l->details;
	const struct gmod_record *r = l->record;
	enum gmod_side side = l->side;
	struct gmod_moment then = {details->allocated_ns, details->allocated_ticks}, later = {0, 0};

	if (overlaps(d, line_of(r, side)))
		later = l->swept;
	else if (!overlaps(d, visible_zone(r, side)) && overlaps(d, gathered_zone(r, side)))
		later = (struct gmod_moment){
		    atomic_load_explicit(&details->slack_ns[side], memory_order_relaxed),
		    atomic_load_explicit(&details->slack_ticks[side], memory_order_relaxed),
		};
	return later.ticks > then.ticks ? later : then;
}

static void sight(const struct look *l, const struct gmod_diff *d, const uint8_t *observed, uint64_t available)
{
	struct gmod_sighting s = {
	    .record = l->record,
	    .details = l->details,
	    .word = l->word,
	    .side = l->side,
	    .diff = *d,
	    .observed = observed,
	    .observed_count = available < GMOD_OBSERVED_MAX ? (uint32_t)available : GMOD_OBSERVED_MAX,
	    .intact = intact_since(l, d),
	    .seen = gmod_now(),
	    .last = l->last,
	};

	if (d->last - d->first + 1 < s.observed_count)
		s.observed_count = (uint32_t)(d->last - d->first + 1);
	gmod_damage_sighting(&s);
}

static void look_at(const struct look *l, struct range zone)
{
	const struct gmod_canary *c = &l->details->canary[l->side];
	struct gmod_diff d = {0};

	if (gmod_canary_compare(c, zone.from, zone.to, (const void *)(uintptr_t)zone.from, &d) || !d.changed)
		gmod_damage_intact(l->record, l->word, l->side, zone.from, zone.to);
	else
		sight(l, &d, (const uint8_t *)(uintptr_t)d.first, zone.to - d.first);
}

/* The zone where it lies and the slack as copied, as one damage: there may be bytes between them that are nobody's. */
static void look_at_both(const struct look *l, const struct gmod_slack *slack)
{
	const struct gmod_canary *c = &l->details->canary[l->side];
	const struct gmod_bounds *b = &l->record->bounds;
	bool head = l->side == GMOD_HEAD;
	struct range zone = visible_zone(l->record, l->side), whole = whole_zone(l->record, l->side);
	struct range near =
	    head ? (struct range){gmod_slack_from(b), b->user} : (struct range){b->user + b->size, b->tail_from};
	const uint8_t *copy = head ? slack->head : slack->tail;
	struct gmod_diff d = {0};

	gmod_canary_compare(c, near.from, near.to, copy, &d);
	gmod_canary_compare(c, zone.from, zone.to, (const void *)(uintptr_t)zone.from, &d);
	if (!d.changed)
		gmod_damage_intact(l->record, l->word, l->side, whole.from, whole.to);
	else if (d.first >= near.from && d.first < near.to)
		sight(l, &d, copy + (d.first - near.from), near.to - d.first);
	else
		sight(l, &d, (const uint8_t *)(uintptr_t)d.first, zone.to - d.first);
}

void gmod_verify_released(struct gmod_record *r, enum gmod_verify what, const struct gmod_slack *slack,
			  struct gmod_moment swept)
{
	uint64_t word = atomic_load_explicit(&r->word, memory_order_relaxed);
	struct look l = {r, gmod_record_details(r), word, GMOD_HEAD, swept, true};
	struct gmod_busy busy = gmod_busy_begin();

	for (int side = GMOD_HEAD; busy.on && side <= GMOD_TAIL; side++) {
		l.side = (enum gmod_side)side;
		if (what == GMOD_VERIFY_COPIED)
			look_at_both(&l, slack);
		else
			look_at(&l, what == GMOD_VERIFY_ALL ? whole_zone(r, l.side) : visible_zone(r, l.side));
	}
	if (busy.on)
		gmod_damage_released(r, l.word);
	gmod_busy_end(busy);
}

void gmod_verify_pinned(struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_moment swept)
{
	struct look l = {r, gmod_record_details(r), word, side, swept, false};

	look_at(&l, visible_zone(r, side));
}

void gmod_verify_copied(struct gmod_record *r, uint64_t word, enum gmod_side side, uint64_t from, uint64_t to,
			const void *bytes, struct gmod_moment when)
{
	struct look l = {r, gmod_record_details(r), word, side, gmod_sweep_latest(), false};
	struct gmod_diff d = {0};

	if (gmod_canary_compare(&l.details->canary[side], from, to, bytes, &d) || !d.changed) {
		atomic_store_explicit(&l.details->slack_ns[side], when.ns, memory_order_relaxed);
		atomic_store_explicit(&l.details->slack_ticks[side], when.ticks, memory_order_relaxed);
		gmod_damage_intact(r, word, side, from, to);
	} else {
		sight(&l, &d, (const uint8_t *)bytes + (d.first - from), to - d.first);
		/* What was written may go on into the zone the CPU sees, and belongs into the same report. */
		gmod_verify_pinned(r, word, side, l.swept);
	}
	gmod_damage_slack_seen(r, word, side, when);
}
