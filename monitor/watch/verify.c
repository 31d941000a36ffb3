#include "monitor/watch/verify.h"

#include "lib/base/facts.h"
#include "monitor/registry/registry.h"
#include "monitor/watch/damage.h"

/* ---- the zones of a buffer ---- */

static struct gmod_range visible_zone(const struct gmod_record *r, enum gmod_side side)
{
	const struct gmod_bounds *b = &r->bounds;

	return side == GMOD_HEAD ? (struct gmod_range){b->head_from, b->head_to}
				 : (struct gmod_range){b->tail_from, b->tail_to};
}

static struct gmod_range whole_zone(const struct gmod_record *r, enum gmod_side side)
{
	const struct gmod_bounds *b = &r->bounds;

	return side == GMOD_HEAD ? (struct gmod_range){b->head_from, b->user}
				 : (struct gmod_range){b->user + b->size, b->tail_to};
}

/* ---- looking ---- */

static bool overlaps(const struct gmod_diff *d, struct gmod_range x)
{
	return d->first < x.to && d->last >= x.from;
}

/* The latest round that counts for the buffer. */
static uint32_t last_round(const struct gmod_details *d, const struct gmod_rounds *rounds)
{
	/* acquire: these rounds are there */
	uint32_t latest = atomic_load_explicit(&rounds->latest, memory_order_acquire);
	uint32_t last = atomic_load_explicit(&d->patrolled_to, memory_order_relaxed), struck;

	last = last < latest ? last : latest;
	/* acquire: the latest is of before it was struck, or what follows says that it was */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&d->struck_serial, memory_order_acquire) != d->serial)
		return last;
	struck = atomic_load_explicit(&d->struck_to, memory_order_relaxed);
	return struck < last ? struck : last;
}

/* Does a round look at that one of so many words behind a buffer? */
static bool round_looks_at(uint32_t number, uint64_t words, uint64_t word)
{
	uint64_t piece = words > GMOD_ROUND_WORDS ? 1 + number % ((words - 1) / GMOD_ROUND_WORDS) : 0;

	return word < GMOD_ROUND_WORDS || word / GMOD_ROUND_WORDS == piece;
}

/*
 * When the latest round began that has seen the first of the changed bytes intact; 0: none of late. What lies between
 * the first and the last may never have been changed.
 */
static struct gmod_moment patrolled_until(const struct gmod_record *r, const struct gmod_details *d,
					  const struct gmod_diff *diff)
{
	const struct gmod_rounds *rounds = atomic_load_explicit(&d->patrolled, memory_order_relaxed);
	uint64_t origin = (r->bounds.user + r->bounds.size) & ~(uint64_t)7;
	uint64_t words = (r->bounds.tail_from - origin + 7) / 8;
	uint32_t last = rounds ? last_round(d, rounds) : 0;

	for (uint32_t number = last; number > 0 && last - number < GMOD_ROUNDS; number--) {
		const __typeof__(rounds->round[0]) *round = &rounds->round[number % GMOD_ROUNDS];
		struct gmod_moment began = gmod_stamp_get(&round->began);
		uint32_t count = atomic_load_explicit(&round->count, memory_order_relaxed);

		/* acquire: a later round that has this place now says so before it has its time */
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&round->number, memory_order_relaxed) == number && r->position < count &&
		    round_looks_at(number, words, (diff->first - origin) / 8))
			return began;
	}
	return (struct gmod_moment){0, 0};
}

/*
 * When the changed bytes were last known intact. The line beside the user's bytes was compared by every sweep, or by
 * every round of the patrol, slack beside them by every gather, what lies further out by a round in so many; else it
 * was surely intact only when it was written.
 */
static struct gmod_moment intact_since(const struct gmod_sighting *look, const struct gmod_diff *d)
{
	const struct gmod_details *details = look->details;
	const struct gmod_record *r = look->record;
	enum gmod_side side = look->side;
	struct gmod_range visible = visible_zone(r, side), line = visible;
	struct gmod_moment made = {details->allocated_ns, details->allocated_ticks}, seen = {0, 0}, patrolled = {0, 0};

	if (side == GMOD_HEAD)
		line.from = line.to - GMOD_LINE;
	else
		line.to = line.from + GMOD_LINE;
	if (overlaps(d, line))
		seen = look->intact;
	else if (!overlaps(d, visible) && overlaps(d, gmod_near_slack(&r->bounds, side)))
		seen = gmod_stamp_get(&details->slack[side]);
	if (side == GMOD_TAIL && !gmod_has_zones(&r->bounds))
		patrolled = patrolled_until(r, details, d);
	if (patrolled.ticks > seen.ticks)
		seen = patrolled;
	return seen.ticks > made.ticks ? seen : made;
}

/* A look, of which `intact` is the latest sweep so far, has found this. */
static void sight(const struct gmod_sighting *look, const struct gmod_diff *d, const uint8_t *observed,
		  uint64_t available)
{
	struct gmod_sighting s = *look;
	uint64_t extent = d->last - d->first + 1, count = extent < available ? extent : available;

	s.diff = *d;
	s.observed = observed;
	s.observed_count = count < GMOD_OBSERVED_MAX ? (uint32_t)count : GMOD_OBSERVED_MAX;
	s.intact = intact_since(look, d);
	s.seen = gmod_now();
	gmod_damage_sighting(&s);
}

static void look_at(const struct gmod_sighting *look, struct gmod_range zone)
{
	const struct gmod_canary *c = &look->details->canary[look->side];
	const void *bytes = (const void *)(uintptr_t)zone.from;
	struct gmod_diff d = {0}, again = {0};

	gmod_canary_compare(c, zone.from, zone.to, bytes, &d);
	if (!d.changed) {
		gmod_damage_intact(look->record, look->word, look->side, zone);
		return;
	}
	/* Of what is being written upwards, the beginning may have come behind this look. */
	gmod_canary_compare(c, zone.from, zone.to, bytes, &again);
	if (again.changed)
		d = again;
	sight(look, &d, (const uint8_t *)(uintptr_t)d.first, zone.to - d.first);
}

/* The zone where it lies and the slack as copied, as one damage: there may be bytes between them that are nobody's. */
static void look_at_both(const struct gmod_sighting *look, const struct gmod_slack *slack)
{
	const struct gmod_canary *c = &look->details->canary[look->side];
	struct gmod_range zone = visible_zone(look->record, look->side), whole = whole_zone(look->record, look->side);
	struct gmod_range near = gmod_whole_slack(&look->record->bounds, look->side);
	const uint8_t *copy = look->side == GMOD_HEAD ? slack->head : slack->tail;
	struct gmod_diff d = {0};

	gmod_canary_compare(c, near.from, near.to, copy, &d);
	gmod_canary_compare(c, zone.from, zone.to, (const void *)(uintptr_t)zone.from, &d);
	if (!d.changed)
		gmod_damage_intact(look->record, look->word, look->side, whole);
	else if (d.first >= near.from && d.first < near.to)
		sight(look, &d, copy + (d.first - near.from), near.to - d.first);
	else
		sight(look, &d, (const uint8_t *)(uintptr_t)d.first, zone.to - d.first);
}

void gmod_verify_released(struct gmod_record *r, enum gmod_verify what, const struct gmod_slack *slack,
			  struct gmod_moment swept)
{
	uint64_t word = atomic_load_explicit(&r->word, memory_order_relaxed);
	struct gmod_sighting l = {
	    .record = r, .details = gmod_record_details(r), .word = word, .intact = swept, .last = true};
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
	struct gmod_sighting l = {r, gmod_record_details(r), word, side, .intact = swept};

	look_at(&l, visible_zone(r, side));
}

void gmod_verify_copied(struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_range slack,
			const uint8_t *bytes, struct gmod_moment when, struct gmod_moment swept)
{
	struct gmod_sighting l = {r, gmod_record_details(r), word, side, .intact = swept};
	struct gmod_diff d = {0};

	gmod_canary_compare(&l.details->canary[side], slack.from, slack.to, bytes, &d);
	if (!d.changed) {
		gmod_stamp_set(&l.details->slack[side], when);
		gmod_damage_intact(r, word, side, slack);
	} else {
		sight(&l, &d, bytes + (d.first - slack.from), slack.to - d.first);
		/* What was written may go on into the zone the CPU sees, and belongs into the same report. */
		look_at(&l, visible_zone(r, side));
	}
	gmod_damage_slack_seen(r, word, side, when);
}
