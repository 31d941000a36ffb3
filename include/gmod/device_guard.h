/*
 * The guard: warps that look at all entries, verify their buffers, and give back what freeN kept back.
 *
 * The chunks are dealt out in shares; a warp takes one share at a time, its lanes look at entries side by side. Nothing
 * keeps two warps from the same share: what a look changes, it changes by one atomic operation, and who loses that has
 * nothing to do any more.
 */
#ifndef GMOD_DEVICE_GUARD_H
#define GMOD_DEVICE_GUARD_H

#include "device_buffer.h"
#include "device_ring.h"

/* ---- saying it ---- */

/* What is found, by whom, and of which buffer. */
GMOD_DEVICE void gmod_say_which(struct gmod_pen *pen, gmod_u32 class_, bool by_the_caller)
{
	const struct gmod_buffer *b = pen->b;

	pen->field[0] = class_;
	pen->field[1] = by_the_caller ? gmod_who() : GMOD_WHO_UNKNOWN;
	pen->field[2] = b->word ? b->user : b->asked;
	pen->field[3] = b->word;
	pen->field[4] = b->end;
	pen->field[5] = b->word ? gmod_load64_relaxed(&gmod_entry_at(b->place)->who) : GMOD_WHO_UNKNOWN;
}

/* Write that down. */
GMOD_DEVICE void gmod_say_fields(struct gmod_pen *pen)
{
	pen->at = &gmod_ring_slot(pen->sequence)->class_;
	pen->seal = pen->sequence;
	gmod_pen_copy(pen, (gmod_u64)pen->field, (gmod_u64)(pen->field + 6));
}

/* And, of a corrupt buffer, what is in and around it: head, tail and fill, one behind the other. */
GMOD_DEVICE void gmod_say_words(struct gmod_pen *pen)
{
	gmod_say_fields(pen);
	if (pen->field[0] != GMOD_DEVICE_CORRUPT)
		return;
	gmod_pen_copy(pen, pen->b->user - GMOD_HEAD_SIZE, pen->b->user);
	gmod_pen_copy(pen, gmod_buffer_last(pen->b) & ~7ull, pen->b->end);
	gmod_pen_copy(pen, pen->b->user,
		      gmod_entry_state_of(pen->b->word) < GMOD_ENTRY_FREED ? 0 : gmod_fill_end(pen->b));
}

/*
 * Say what is wrong with a buffer of our own, or that somebody frees what is none: then `word` is 0. false: there is no
 * room.
 */
GMOD_DEVICE_SLOW bool gmod_say(gmod_u32 class_, const struct gmod_buffer *b, bool by_the_caller)
{
	struct gmod_pen pen;

	pen.b = b;
	gmod_say_which(&pen, class_, by_the_caller);
	pen.sequence = gmod_ring_reserve();
	if (!pen.sequence)
		return false;
	gmod_say_words(&pen);
	gmod_pen_end(&pen);
	return true;
}

/* What nobody can say later. */
GMOD_DEVICE_SLOW void gmod_say_none(void)
{
	gmod_add64_relaxed(&gmod_unit_heap.state->findings_lost, 1);
}

/* Change a buffer's entry, if it is what it was. What was read of the buffer was read before that. */
GMOD_DEVICE bool gmod_entry_turn(const struct gmod_buffer *b, gmod_u64 is, gmod_u64 to)
{
	gmod_fence();
	return gmod_cas64_relaxed(&gmod_entry_at(b->place)->word, is, to) == is;
}

/*
 * A buffer is corrupt, as it seems, and others may change it at any time: what it is like is written down first, and
 * its entry turned then. Where that is no longer what it was, the finding is void, and whoever has changed it says what
 * there is to say. false: it is void, or there is no room.
 */
GMOD_DEVICE bool gmod_say_corrupt(const struct gmod_buffer *b)
{
	struct gmod_pen pen;

	pen.b = b;
	gmod_say_which(&pen, GMOD_DEVICE_CORRUPT, false);
	pen.sequence = gmod_ring_reserve();
	if (!pen.sequence)
		return false;
	gmod_say_words(&pen);
	if (!gmod_entry_turn(b, b->word, b->word | GMOD_ENTRY_REPORTED)) {
		pen.field[0] = GMOD_DEVICE_VOID;
		gmod_say_fields(&pen);
	}
	gmod_pen_end(&pen);
	return pen.field[0] != GMOD_DEVICE_VOID;
}

/* ---- giving back ---- */

/* A block whose entry is DEAD, by us. */
GMOD_DEVICE void gmod_block_give(const struct gmod_buffer *b)
{
	if (gmod_place_is_run(b->place))
		gmod_run_release(gmod_place_chunk(b->place), (gmod_u32)gmod_entry_chunks(b->word));
	else
		gmod_block_release(gmod_place_chunk(b->place), gmod_place_index(b->place));
}

/* Has a buffer been kept back for as long as it should be? */
GMOD_DEVICE bool gmod_guard_is_due(const struct gmod_buffer *b)
{
	gmod_u32 pass = gmod_load32_relaxed(&gmod_unit_heap.state->pass);
	gmod_u64 since = gmod_load64_relaxed(gmod_words_at(b->user - 8)) ^ gmod_pattern(b, GMOD_PATTERN_HEAD);

	return gmod_load32_relaxed(&gmod_unit_heap.state->pressing) == pass ||
	       ((pass - (gmod_u32)since) & 0xffff) > gmod_unit_heap.delay;
}

/* A buffer that is kept back: true where it still is. */
GMOD_DEVICE_ONCE bool gmod_guard_freed(const struct gmod_buffer *b)
{
	if (!gmod_guard_is_due(b))
		return true;
	/* Two of us may have come so far: only one may write to the block, which is somebody else's before long. */
	if (!gmod_entry_turn(b, b->word, gmod_entry_turned(b->word, GMOD_ENTRY_BUSY)))
		return false;
	gmod_store64_relaxed(gmod_words_at(b->user - 8), gmod_pattern(b, GMOD_PATTERN_HEAD));
	/* release: the buffer is as it is to be */
	gmod_store64_release(&gmod_entry_at(b->place)->word, gmod_entry_turned(b->word, GMOD_ENTRY_DEAD));
	gmod_add64_relaxed(&gmod_unit_heap.state->held, 0ull - gmod_buffer_takes(b));
	gmod_block_give(b);
	return false;
}

/* ---- looking ---- */

/*
 * Is an entry what it was when the look began, with `control` as its chunk's? The chunk may be one of other blocks now:
 * then what looks like an entry is bytes of the program's, who may have written what looks like any state. Or the block
 * may be another buffer's.
 */
GMOD_DEVICE_ONCE bool gmod_guard_saw(const struct gmod_buffer *b, gmod_u64 control)
{
	gmod_fence(); /* behind all that was read of it */
	return (gmod_u32)gmod_load64_relaxed(gmod_control_of(gmod_place_chunk(b->place))) == (gmod_u32)control &&
	       gmod_load64_relaxed(&gmod_entry_at(b->place)->word) == b->word;
}

/*
 * Something is wrong with an entry, or with its buffer. An entry that has been overwritten is looked at no more, and
 * its block not given out. true: it is said.
 */
GMOD_DEVICE_ONCE bool gmod_guard_wrong(const struct gmod_buffer *b, bool holds)
{
	if (holds)
		return gmod_say_corrupt(b);
	if (gmod_entry_turn(b, b->word, b->word | GMOD_ENTRY_STATE))
		gmod_add64_relaxed(&gmod_unit_heap.state->damaged, 1);
	return false;
}

/* Look at one entry, in a chunk with that control word. */
GMOD_DEVICE_SLOW void gmod_guard_look(gmod_u64 place, gmod_u64 control, struct gmod_share *seen)
{
	/* acquire: the rest of the entry, and the buffer's canaries */
	struct gmod_buffer b = {place, gmod_load64_acquire(&gmod_entry_at(place)->word), 0, 0, 0};
	gmod_u32 state = gmod_entry_state_of(b.word);
	bool holds, wrong;

	if (state < GMOD_ENTRY_LIVE || state > GMOD_ENTRY_DEAD)
		return;
	holds = gmod_buffer_lies(&b) && gmod_entry_holds(&b);
	wrong = !holds || gmod_buffer_is_corrupt(&b);
	if ((wrong || state == GMOD_ENTRY_FREED) && !gmod_guard_saw(&b, control))
		return;
	if (wrong) {
		if (!gmod_guard_wrong(&b, holds)) {
			seen->waiting += holds && state == GMOD_ENTRY_FREED;
			return; /* it is none, or it has to be said first */
		}
		b.word |= GMOD_ENTRY_REPORTED;
	}
	if (state == GMOD_ENTRY_LIVE) {
		seen->live++;
		seen->live_bytes += gmod_entry_size(b.word);
	}
	if (state == GMOD_ENTRY_FREED)
		seen->waiting += gmod_guard_freed(&b);
}

GMOD_DEVICE_ONCE void gmod_guard_chunk(gmod_u32 chunk, gmod_u64 control, struct gmod_warp w, struct gmod_share *seen)
{
	gmod_u32 class_ = gmod_control_class(control), blocks = gmod_class_blocks(class_);

	for (gmod_u32 i = w.rank; i < blocks; i += w.size)
		gmod_guard_look(gmod_place(gmod_chunk_address(chunk) + i * GMOD_ENTRY_SIZE, class_), control, seen);
}

/* Add what was seen to the sums over all shares, and to the most they have been. */
GMOD_DEVICE void gmod_guard_count(gmod_u32 share, const struct gmod_share *seen)
{
	struct gmod_heap_state *s = gmod_unit_heap.state;
	struct gmod_share *last = &s->share[share];
	gmod_u64 live = seen->live - gmod_swap64_relaxed(&last->live, seen->live);
	gmod_u64 bytes = seen->live_bytes - gmod_swap64_relaxed(&last->live_bytes, seen->live_bytes);

	gmod_max64_relaxed(&s->live_peak, gmod_add64_relaxed(&s->live, live) + live);
	gmod_max64_relaxed(&s->live_bytes_peak, gmod_add64_relaxed(&s->live_bytes, bytes) + bytes);
	gmod_store64_relaxed(&last->waiting, seen->waiting);
}

/* A look at one share. All lanes of the warp call it. */
GMOD_DEVICE_SLOW void gmod_guard_share(gmod_u32 share, struct gmod_warp w)
{
	struct gmod_share seen = {0, 0, 0};

	GMOD_ROLLED
	for (gmod_u32 first = share * w.size; first < gmod_unit_heap.chunks; first += gmod_unit_heap.guards * w.size) {
		/* acquire: the entries as they were made before the kind was set */
		gmod_u64 control =
		    first + w.rank < gmod_unit_heap.chunks ? gmod_load64_acquire(gmod_control_of(first + w.rank)) : 0;

		GMOD_ROLLED
		for (gmod_u32 i = 0; i < w.size; i++) {
			gmod_u64 that = gmod_warp_share(control, i);

			if (gmod_control_kind(that) != GMOD_CHUNK_NEW)
				gmod_guard_chunk(first + i, that, w, &seen);
			gmod_lanes_apart();
		}
	}
	seen.live = gmod_warp_sum(seen.live);
	seen.live_bytes = gmod_warp_sum(seen.live_bytes);
	seen.waiting = gmod_warp_sum(seen.waiting);
	if (w.rank == 0)
		gmod_guard_count(share, &seen);
}

#endif
