#include "monitor/verify.h"

#include <string.h>

#include "monitor/sweep.h"

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

/*
 * When the changed bytes were last known intact. The line beside the user's bytes was compared by every sweep, the
 * slack by every gather; what lies further out was surely intact only when it was written.
 */
static struct gmod_moment intact_since(const struct gmod_record *r, enum gmod_side side, const struct gmod_diff *d)
{
	const struct gmod_details *details = gmod_record_details(r);
	struct gmod_moment then = {details->allocated_ns, details->allocated_ticks}, later = {0, 0};

	if (overlaps(d, line_of(r, side)))
		later = gmod_sweep_latest();
	else if (!overlaps(d, visible_zone(r, side)))
		later = (struct gmod_moment){
		    atomic_load_explicit(&details->slack_ns[side], memory_order_relaxed),
		    atomic_load_explicit(&details->slack_ticks[side], memory_order_relaxed),
		};
	return later.ticks > then.ticks ? later : then;
}

static void sight(struct gmod_record *r, uint64_t word, enum gmod_side side, const struct gmod_diff *d,
		  const uint8_t *observed, uint64_t available, bool last)
{
	struct gmod_sighting s = {
	    .record = r,
	    .word = word,
	    .side = side,
	    .diff = *d,
	    .observed = observed,
	    .observed_count = available < GMOD_OBSERVED_MAX ? (uint32_t)available : GMOD_OBSERVED_MAX,
	    .intact = intact_since(r, side, d),
	    .seen = gmod_now(),
	    .last = last,
	};

	if (d->last - d->first + 1 < s.observed_count)
		s.observed_count = (uint32_t)(d->last - d->first + 1);
	gmod_watch_sighting(&s);
}

static bool look(struct gmod_record *r, uint64_t word, enum gmod_side side, struct range zone, bool last)
{
	const struct gmod_canary *c = &gmod_record_details(r)->canary[side];
	struct gmod_diff d = {0};

	if (gmod_canary_compare(c, zone.from, zone.to, (const void *)(uintptr_t)zone.from, &d) || !d.changed)
		return true;
	sight(r, word, side, &d, (const uint8_t *)(uintptr_t)d.first, zone.to - d.first, last);
	return false;
}

void gmod_verify_released(struct gmod_record *r, enum gmod_verify what)
{
	uint64_t word = atomic_load_explicit(&r->word, memory_order_relaxed);

	for (int side = GMOD_HEAD; side <= GMOD_TAIL; side++)
		if (look(r, word, (enum gmod_side)side,
			 what == GMOD_VERIFY_ALL ? whole_zone(r, (enum gmod_side)side)
						 : visible_zone(r, (enum gmod_side)side),
			 true))
			gmod_watch_intact(r, word, (enum gmod_side)side);
	gmod_watch_released(r, word);
}

void gmod_verify_pinned(struct gmod_record *r, uint64_t word, enum gmod_side side, bool last)
{
	if (look(r, word, side, visible_zone(r, side), last))
		gmod_watch_intact(r, word, side);
}

void gmod_verify_copied(struct gmod_record *r, uint64_t word, enum gmod_side side, uint64_t from, uint64_t to,
			const void *bytes, struct gmod_moment when, bool last)
{
	struct gmod_details *details = gmod_record_details(r);
	struct gmod_diff d = {0};

	if (gmod_canary_compare(&details->canary[side], from, to, bytes, &d) || !d.changed) {
		atomic_store_explicit(&details->slack_ns[side], when.ns, memory_order_relaxed);
		atomic_store_explicit(&details->slack_ticks[side], when.ticks, memory_order_relaxed);
		return;
	}
	sight(r, word, side, &d, (const uint8_t *)bytes + (d.first - from), to - d.first, last);
}
