/*
 * The slab allocator: blocks of 38 sizes cut from chunks of 64 KiB, and runs of chunks for what is larger.
 *
 *     chunk: │ entries, one a block (device_entry.h) │ blocks │ rest │
 *     run:   │ entry │ one block, to the end of its last chunk       │
 *
 * A chunk of a class hands out blocks in two steps: reserve one by taking from the number in its control word, then
 * pick a bit from its bitmap. A release goes the other way round: bit, then number.
 *
 *   I1  A chunk's bitmap has at least as many bits as its number of free blocks and the reservations not yet picked.
 *       So who has reserved finds a bit, if not at once.
 *
 *   I2  Whoever takes one that is not there gives it back. Meanwhile the number is too low, never too high, and low
 *       enough to be negative; the low half of the word does not change by it.
 *
 *   I3  Whoever changes the number from 0 or less to more than 0, by whatever, lists the chunk in its class's set.
 *       Whoever finds nothing in a listed chunk takes it off and then looks again. So a chunk with free blocks is
 *       listed, or somebody is about to list it.
 *
 *   I4  Only a control word whose number is that of all blocks turns into FREE: nobody has a block, nobody has reserved
 *       one, nobody has a difference to give back. A chunk that is FREE or LARGE keeps its number: who took from it by
 *       mistake gives it back.
 *
 *   I5  A chunk that is in the set of free chunks belongs to nobody; who takes it from there owns it until it has made
 *       it one of a class.
 *
 * A chunk keeps its class when it is FREE, and its entries what was in it: until it becomes part of something else, a
 * second free is told from a wrong one, and a late write is seen.
 *
 * Model: tests/models/slab.pml. Nothing waits for a lock; gmod_slab_turn() waits a bounded time for a thread that is
 * about to make a new chunk, so that not every thread of a multiprocessor makes one. Where a program has overwritten
 * what is here, every loop ends nevertheless.
 */
#ifndef GMOD_DEVICE_SLAB_H
#define GMOD_DEVICE_SLAB_H

#include "device_canary.h"
#include "device_set.h"

enum {
	GMOD_GROW_WAIT = 64,    /* pauses */
	GMOD_WAIT_PAUSES = 40,  /* between two looks for memory where there is none */
	GMOD_TRIES = 256,       /* chunks that had nothing for us, one after the other */
	GMOD_CRUMBS = 8,        /* of these, before a new chunk is made while others still give back single blocks */
	GMOD_PICK_TRIES = 4096, /* looks at words of a bitmap that has a bit for us (I1), while others take theirs */
};

/* ---- sizes ---- */

/*
 * Block sizes: multiples of 16 from 32 to 128, then four to each doubling: 160, 192, 224, 256, 320, ... 28672. A buffer
 * needs 24 bytes more than it has, and its entry 16.
 */
GMOD_DEVICE gmod_u32 gmod_class_of(gmod_u32 size)
{
	gmod_u32 log;

	if (size <= 128)
		return size <= GMOD_BLOCK_MIN ? 0 : (size + 15) / 16 - 2;
	log = gmod_log2(size - 1);
	return 3 + (log - 7) * 4 + ((size - 1) >> (log - 2));
}

GMOD_DEVICE struct gmod_shape gmod_class_shape(gmod_u32 class_)
{
	struct gmod_shape c = {0, 1};

	if (class_ >= GMOD_CLASSES)
		return c;
	c.size = class_ < 7 ? (class_ + 2) * 16 : (5 + (class_ - 7) % 4) << (5 + (class_ - 7) / 4);
	c.blocks = GMOD_CHUNK_SIZE / (c.size + GMOD_ENTRY_SIZE);
	return c;
}

/* Of a class up to GMOD_CLASS_RUN. */
GMOD_DEVICE gmod_u32 gmod_class_size(gmod_u32 class_)
{
	return gmod_unit_heap.shape[class_].size;
}

GMOD_DEVICE gmod_u32 gmod_class_blocks(gmod_u32 class_)
{
	return gmod_unit_heap.shape[class_].blocks;
}

/* ---- control words ---- */

GMOD_DEVICE int gmod_control_free(gmod_u64 control)
{
	return (int)(control >> 32);
}

GMOD_DEVICE gmod_u32 gmod_control_kind(gmod_u64 control)
{
	return (gmod_u32)control & 3;
}

/* What is no class is the last one: a program may have overwritten it. */
GMOD_DEVICE gmod_u32 gmod_control_class(gmod_u64 control)
{
	gmod_u32 class_ = (gmod_u32)control >> 2 & 63;

	return class_ < GMOD_CLASS_RUN ? class_ : GMOD_CLASS_RUN;
}

GMOD_DEVICE bool gmod_control_is(gmod_u64 control, gmod_u32 class_)
{
	return gmod_control_kind(control) == GMOD_CHUNK_SLAB && gmod_control_class(control) == class_;
}

/* The same number, another kind and class, the next generation. */
GMOD_DEVICE gmod_u64 gmod_control_turned(gmod_u64 control, gmod_u32 kind, gmod_u32 class_)
{
	gmod_u64 generation = ((control >> 8 & 0xffffff) + 1) & 0xffffff;

	return (control >> 32 << 32) | generation << 8 | class_ << 2 | kind;
}

GMOD_DEVICE gmod_u64 *gmod_control_of(gmod_u32 chunk)
{
	return &gmod_unit_heap.chunk[chunk].control;
}

GMOD_DEVICE gmod_u64 gmod_chunk_address(gmod_u32 chunk)
{
	return gmod_unit_heap.base + ((gmod_u64)chunk << GMOD_CHUNK_BITS);
}

GMOD_DEVICE gmod_u32 gmod_chunk_at(gmod_u64 address)
{
	return (gmod_u32)((address - gmod_unit_heap.base) >> GMOD_CHUNK_BITS);
}

/* ---- chunks in use ---- */

/* n chunks are in use from now on. */
GMOD_DEVICE void gmod_chunks_used(gmod_u32 n)
{
	struct gmod_heap_state *s = gmod_unit_heap.state;

	gmod_max32_relaxed(&s->peak, gmod_add32_relaxed(&s->used, n) + n);
}

GMOD_DEVICE void gmod_chunks_unused(gmod_u32 n)
{
	gmod_add32_relaxed(&gmod_unit_heap.state->used, 0u - n);
}

/* Fewer than n chunks are free: spares a look at all of them. Says so only where it has been so a moment ago. */
GMOD_DEVICE bool gmod_chunks_are_short(gmod_u32 n)
{
	return (int)(gmod_unit_heap.chunks - gmod_load32_relaxed(&gmod_unit_heap.state->used)) < (int)n;
}

/* ---- lists ---- */

/* After a change of a chunk's number up to `after`, from 0 or less or not: keeps I3, and lets go of a chunk nobody uses
 * (I4). */
GMOD_DEVICE void gmod_chunk_settle(gmod_u32 chunk, gmod_u64 after, bool had_none)
{
	gmod_u32 class_ = gmod_control_class(after);
	gmod_u64 freed;

	if (gmod_control_kind(after) != GMOD_CHUNK_SLAB || class_ >= GMOD_CLASSES)
		return;
	if (gmod_control_free(after) == (int)gmod_class_blocks(class_)) {
		freed = gmod_control_turned(after & 0xffffffff, GMOD_CHUNK_FREE, class_);
		if (gmod_cas64_release(gmod_control_of(chunk), after, freed) == after) {
			gmod_set_take(class_, chunk);
			gmod_chunks_unused(1);
			gmod_set_add(GMOD_SET_FREE, chunk);
			return;
		}
	}
	if (had_none && gmod_control_free(after) > 0)
		gmod_set_add(class_, chunk);
}

/* A chunk in a class's set had nothing for us. */
GMOD_DEVICE_SLOW void gmod_chunk_unlist(gmod_u32 chunk, gmod_u32 class_)
{
	gmod_u64 control;

	gmod_set_take(class_, chunk);
	gmod_fence(); /* with the change of the number by whoever lists: one of us sees the other */
	control = gmod_load64_relaxed(gmod_control_of(chunk));
	if (gmod_control_is(control, class_) && gmod_control_free(control) > 0)
		gmod_set_add(class_, chunk);
}

/* ---- blocks of a class ---- */

/* n more blocks are free. */
GMOD_DEVICE_SLOW void gmod_chunk_return(gmod_u32 chunk, gmod_u32 n)
{
	gmod_u64 before = gmod_add64_release(gmod_control_of(chunk), (gmod_u64)n << 32);

	gmod_chunk_settle(chunk, before + ((gmod_u64)n << 32), gmod_control_free(before) <= 0);
}

GMOD_DEVICE void gmod_count_freed(void)
{
	gmod_add64_relaxed(&gmod_unit_heap.state->freed[gmod_processor() % GMOD_SLOTS], 1);
}

/* A block is free again. */
GMOD_DEVICE void gmod_block_release(gmod_u32 chunk, gmod_u32 index)
{
	/* release, twice: our writes to the block are over, and the bit is there before the number says so (I1) */
	gmod_or32_release(&gmod_unit_heap.chunk[chunk].free_blocks[index / 32], 1u << index % 32);
	gmod_chunk_return(chunk, 1);
	gmod_count_freed();
}

/* ---- new chunks ---- */

/*
 * Where a block is: its entry's address, below the class of its chunk; 0: no block is there. GMOD_CLASS_RUN: the block
 * is a run.
 */
GMOD_DEVICE gmod_u64 gmod_place(gmod_u64 entry, gmod_u32 class_)
{
	return entry | (gmod_u64)class_ << 56;
}

/* The entry's word of a block that nobody has had since its chunk became one of the class, but for the generation. */
GMOD_DEVICE gmod_u64 gmod_word_none(gmod_u64 place)
{
	gmod_u32 chunk = (gmod_u32)(place >> GMOD_CHUNK_BITS) ^ (gmod_u32)(place >> 40); /* and its class */

	return (gmod_u64)((chunk ^ (gmod_u32)gmod_unit_heap.key[1]) * 0x9e3779b1u) << 32;
}

/* Change a chunk of our own, and add to its number, which may be changing by mistake (I4): the new number. */
GMOD_DEVICE_SLOW int gmod_chunk_turn(gmod_u32 chunk, gmod_u32 kind, gmod_u32 class_, gmod_u32 blocks)
{
	gmod_u64 *at = gmod_control_of(chunk), before = gmod_load64_relaxed(at), after, seen;

	for (;; before = seen) {
		after = gmod_control_turned(before, kind, class_) + ((gmod_u64)blocks << 32);
		/* release: the bitmap (I1), and the entries */
		seen = gmod_cas64_release(at, before, after);
		if (seen == before)
			return gmod_control_free(after);
	}
}

/* What is in a chunk of our own (I5) is that of other blocks: forget it, first that there is anything. */
GMOD_DEVICE_SLOW void gmod_chunk_clear(gmod_u32 chunk, gmod_u32 class_)
{
	gmod_u32 blocks = gmod_class_blocks(class_), was = (gmod_u32)gmod_load64_relaxed(gmod_control_of(chunk));
	gmod_u64 *entry = (gmod_u64 *)gmod_chunk_address(chunk),
		 none = gmod_word_none(gmod_place((gmod_u64)entry, class_));

	if (gmod_control_kind(was) != GMOD_CHUNK_NEW && gmod_control_class(was) == class_)
		return;
	gmod_and64_relaxed(gmod_control_of(chunk), ~3ull); /* NEW */
	gmod_fence_writes(); /* a guard that reads what we write finds that it is no entry */
	/* Generations begin with the chunk's: what a slow guard has looked at is not taken for the new buffer. */
	none |= gmod_load64_relaxed(gmod_control_of(chunk)) >> 4 & 0xfff0;
	GMOD_ROLLED
	for (gmod_u32 i = 0; i < blocks; i++)
		gmod_store64_relaxed(&entry[i * (GMOD_ENTRY_SIZE / 8)], none);
	GMOD_ROLLED
	for (gmod_u32 w = 0; class_ < GMOD_CLASSES && w < (blocks + 31) / 32; w++)
		gmod_store32_relaxed(&gmod_unit_heap.chunk[chunk].free_blocks[w],
				     blocks - w * 32 >= 32 ? ~0u : (1u << (blocks - w * 32)) - 1);
}

/* ---- asking for a block ---- */

/* A buffer that a function is about; device_entry.h. */
struct gmod_buffer {
	gmod_u64 place, word; /* of its block, and its entry's, in the state that is spoken of */
	gmod_u64 user, end;   /* its address, and the end of its tail */
	gmod_u64 asked;       /* the address that the program has named */
};

/* What is to be done next for a block; each step says which. gmod_heap_malloc() has them in order. */
enum gmod_step {
	GMOD_STEP_TRY,    /* reserve a block of the chunk that the place remembers */
	GMOD_STEP_UNLIST, /* it was the last one: spare others the look */
	GMOD_STEP_PICK,
	GMOD_STEP_RETURN, /* somebody was faster: give back what was taken */
	GMOD_STEP_LOOK,   /* have the place remember another chunk */
	GMOD_STEP_TURN,   /* none is seen: whose turn is it to make one? */
	GMOD_STEP_TAKE,
	GMOD_STEP_MAKE,
	GMOD_STEP_NONE, /* there is no free chunk */
	GMOD_STEP_FIND_RUN,
	GMOD_STEP_TAKE_RUN,
	GMOD_STEP_GIVE_RUN, /* somebody was faster */
	GMOD_STEP_MAKE_RUN,
	GMOD_STEP_WAIT,  /* the heap is exhausted, as it seems */
	GMOD_STEP_STATE, /* there is a block: what was in it? */
	GMOD_STEP_VERIFY,
	GMOD_STEP_SAY,
	GMOD_STEP_LOST, /* there was no room for it */
	GMOD_STEP_ENTRY,
	GMOD_STEP_DONE,
	GMOD_STEP_FAILED,
};

/*
 * What is asked for. It lies on the stack, where it takes no registers of the program's, and is handed from step to
 * step: steps that called each other would need all of theirs at the same time.
 */
struct gmod_want {
	struct gmod_buffer b;        /* what comes of it */
	gmod_u64 size, align, needs; /* bytes; the last of a block */
	gmod_u64 looked;             /* clock when we last got no memory, 0: we have not yet */
	gmod_u32 spot;               /* class * GMOD_SLOTS + slot: the place that remembers a chunk */
	gmod_u32 hint;               /* what it remembered when we looked; of a run, its first chunk */
	gmod_u32 taken;              /* a chunk that is ours; of a run, how many are */
	gmod_u32 tries;
	gmod_u32 waited; /* ns */
};

GMOD_DEVICE enum gmod_step gmod_want_first(const struct gmod_want *w)
{
	return w->spot < GMOD_CLASS_RUN * GMOD_SLOTS ? GMOD_STEP_TRY : GMOD_STEP_FIND_RUN;
}

GMOD_DEVICE_ONCE enum gmod_step gmod_slab_try(struct gmod_want *w)
{
	gmod_u32 class_ = w->spot / GMOD_SLOTS, chunk;
	gmod_u64 before;

	w->hint = gmod_load32_relaxed(&gmod_unit_heap.state->hint[w->spot]);
	chunk = w->hint - 1;
	before = chunk < gmod_unit_heap.chunks ? gmod_load64_relaxed(gmod_control_of(chunk)) : 0;
	if (w->tries++ == GMOD_TRIES)
		return GMOD_STEP_WAIT;
	if (!gmod_control_is(before, class_) || gmod_control_free(before) <= 0)
		return GMOD_STEP_LOOK;
	/* acquire: the bits of the blocks that were released before (I1) */
	before = gmod_add64_acquire(gmod_control_of(chunk), ~0ull << 32);
	if (!gmod_control_is(before, class_) || gmod_control_free(before) <= 0)
		return GMOD_STEP_RETURN;
	return gmod_control_free(before) == 1 ? GMOD_STEP_UNLIST : GMOD_STEP_PICK;
}

/* A block that was reserved. Where there is none, the bitmap has been overwritten. */
GMOD_DEVICE_ONCE enum gmod_step gmod_slab_pick(struct gmod_want *w)
{
	gmod_u32 blocks = gmod_class_blocks(w->spot / GMOD_SLOTS), words = (blocks + 31) / 32, from = gmod_spread();
	gmod_u32 *at = gmod_unit_heap.chunk[w->hint - 1].free_blocks, i = (gmod_u32)((gmod_u64)from * words >> 32), bit,
		 v;

	GMOD_ROLLED
	for (int tries = 0; tries < GMOD_PICK_TRIES; tries++) {
		v = gmod_load32_relaxed(&at[i]);
		bit = v ? gmod_bit_from(v, from) : 0;
		/* acquire: what the block's last owner did to it is over */
		if (v && gmod_and32_acquire(&at[i], ~(1u << bit)) >> bit & 1 && i * 32 + bit < blocks) {
			w->b.place = gmod_chunk_address(w->hint - 1) + (i * 32 + bit) * GMOD_ENTRY_SIZE;
			return GMOD_STEP_STATE;
		}
		if (!v)
			i = i + 1 < words ? i + 1 : 0;
	}
	return GMOD_STEP_LOOK;
}

GMOD_DEVICE_ONCE enum gmod_step gmod_slab_look(const struct gmod_want *w)
{
	gmod_u32 class_ = w->spot / GMOD_SLOTS, chunk = gmod_set_find(class_, w->hint);
	gmod_u64 control;

	if (chunk == GMOD_SET_NONE || w->tries % GMOD_CRUMBS == 0)
		return GMOD_STEP_TURN;
	control = gmod_load64_relaxed(gmod_control_of(chunk));
	if (gmod_control_is(control, class_) && gmod_control_free(control) > 0)
		gmod_store32_relaxed(&gmod_unit_heap.state->hint[w->spot], chunk + 1);
	else
		gmod_chunk_unlist(chunk, class_);
	return GMOD_STEP_TRY;
}

/*
 * One thread of the place makes a chunk; the others wait for it a little, until the place remembers another one than it
 * did. Where that takes too long, it is the turn of one of them.
 */
GMOD_DEVICE_ONCE enum gmod_step gmod_slab_turn(const struct gmod_want *w)
{
	const gmod_u32 *hint = &gmod_unit_heap.state->hint[w->spot];
	gmod_u32 *growing = &gmod_unit_heap.state->growing[w->spot];

	GMOD_ROLLED
	for (int i = 0; i < GMOD_GROW_WAIT; i++) {
		if (gmod_load32_relaxed(hint) != w->hint)
			return GMOD_STEP_TRY;
		if (!gmod_load32_relaxed(growing) && gmod_cas32_acquire(growing, 0, 1) == 0)
			return GMOD_STEP_TAKE;
		gmod_pause();
	}
	gmod_store32_relaxed(growing, 0);
	return GMOD_STEP_TRY;
}

/* It was our turn. */
GMOD_DEVICE void gmod_slab_turned(const struct gmod_want *w)
{
	gmod_store32_relaxed(&gmod_unit_heap.state->growing[w->spot], 0);
}

/* Take a chunk from the set of free ones, apart from other multiprocessors. */
GMOD_DEVICE_ONCE enum gmod_step gmod_chunk_take(struct gmod_want *w)
{
	w->taken = GMOD_SET_NONE;
	if (!gmod_chunks_are_short(1)) {
		w->taken = gmod_set_find(GMOD_SET_FREE, w->spot * 2);
		if (w->taken == GMOD_SET_NONE)
			w->taken = gmod_set_find_all(GMOD_SET_FREE);
	}
	if (w->taken == GMOD_SET_NONE)
		return GMOD_STEP_NONE;
	if (gmod_set_take(GMOD_SET_FREE, w->taken))
		return GMOD_STEP_MAKE;
	gmod_slab_turned(w);
	return GMOD_STEP_TRY;
}

/* Make it one of the class, and have the place remember it. */
GMOD_DEVICE_ONCE enum gmod_step gmod_slab_make(const struct gmod_want *w)
{
	gmod_chunks_used(1);
	gmod_chunk_clear(w->taken, w->spot / GMOD_SLOTS);
	if (gmod_chunk_turn(w->taken, GMOD_CHUNK_SLAB, w->spot / GMOD_SLOTS, gmod_class_blocks(w->spot / GMOD_SLOTS)) >
	    0)
		gmod_set_add(w->spot / GMOD_SLOTS, w->taken);
	gmod_store32_relaxed(&gmod_unit_heap.state->hint[w->spot], w->taken + 1);
	gmod_slab_turned(w);
	return GMOD_STEP_TRY;
}

/* Others may have blocks that they did not list yet. */
GMOD_DEVICE_ONCE enum gmod_step gmod_slab_none(const struct gmod_want *w)
{
	gmod_slab_turned(w);
	return gmod_set_find_all(w->spot / GMOD_SLOTS) == GMOD_SET_NONE ? GMOD_STEP_WAIT : GMOD_STEP_TRY;
}

/* ---- runs of chunks ---- */

/* Bits of one word for the members [first, first + n) that fall into it; *n_here says how many those are. */
GMOD_DEVICE gmod_u32 gmod_run_mask(gmod_u32 first, gmod_u32 n, gmod_u32 *n_here)
{
	gmod_u32 left = 32 - first % 32;

	*n_here = n < left ? n : left;
	return (*n_here == 32 ? ~0u : (1u << *n_here % 32) - 1) << first % 32;
}

GMOD_DEVICE_SLOW void gmod_run_give(gmod_u32 first, gmod_u32 n)
{
	gmod_u32 here;

	GMOD_ROLLED
	for (; n; first += here, n -= here) {
		gmod_u32 mask = gmod_run_mask(first, n, &here);

		gmod_set_add_mask(GMOD_SET_FREE, first / 32, mask);
	}
}

/* Chunks that a run of so many bytes takes. */
GMOD_DEVICE gmod_u32 gmod_run_chunks(gmod_u64 needs)
{
	return (gmod_u32)((needs + GMOD_ENTRY_SIZE + GMOD_CHUNK_SIZE - 1) >> GMOD_CHUNK_BITS);
}

/* Find free chunks in a row, at `hint` or behind it. */
GMOD_DEVICE_ONCE enum gmod_step gmod_run_find(struct gmod_want *w)
{
	gmod_u32 chunks = gmod_unit_heap.chunks, n = gmod_run_chunks(w->needs), run = 0, i = w->hint;

	GMOD_ROLLED
	while (run < n && i < chunks) {
		gmod_u32 v = gmod_load32_relaxed(&gmod_set_words(GMOD_SET_FREE)[i / 32]) >> i % 32, left = 32 - i % 32;
		gmod_u32 others = v & 1 ? ~v : v, step = others ? gmod_lowest(others) : 32;

		step = step < left ? step : left;
		run = v & 1 ? run + step : 0;
		i += step;
	}
	w->hint = i - run;
	if (run >= n && w->hint + n <= chunks)
		return GMOD_STEP_TAKE_RUN;
	/* Where others were faster, there may be one before the place that we have come to. */
	w->hint = 0;
	if (!w->tries)
		return GMOD_STEP_WAIT;
	w->tries = 0;
	return GMOD_STEP_FIND_RUN;
}

/* Take as much of it as is there, from its start: `taken` says how many. */
GMOD_DEVICE_ONCE enum gmod_step gmod_run_take(struct gmod_want *w)
{
	gmod_u32 first = w->hint, rest = gmod_run_chunks(w->needs), here, mask, got;

	GMOD_ROLLED
	for (; rest; first += here, rest -= here) {
		mask = gmod_run_mask(first, rest, &here);
		got = gmod_set_take_mask(GMOD_SET_FREE, first / 32, mask);
		if (got != mask) {
			if (got)
				gmod_set_add_mask(GMOD_SET_FREE, first / 32, got);
			break;
		}
	}
	w->taken = first - w->hint;
	return rest ? GMOD_STEP_GIVE_RUN : GMOD_STEP_MAKE_RUN;
}

/* Make chunks of our own a run: what those behind the first were they are no longer. */
GMOD_DEVICE_ONCE enum gmod_step gmod_run_make(struct gmod_want *w)
{
	gmod_u32 n = gmod_run_chunks(w->needs);

	gmod_chunks_used(n);
	gmod_chunk_clear(w->hint, GMOD_CLASS_RUN);
	GMOD_ROLLED
	for (gmod_u32 i = 1; i < n; i++)
		gmod_and64_relaxed(gmod_control_of(w->hint + i), ~3ull);
	gmod_chunk_turn(w->hint, GMOD_CHUNK_LARGE, GMOD_CLASS_RUN, 0);
	w->b.place = gmod_chunk_address(w->hint);
	return GMOD_STEP_STATE;
}

GMOD_DEVICE void gmod_run_release(gmod_u32 first, gmod_u32 n)
{
	gmod_chunk_turn(first, GMOD_CHUNK_FREE, GMOD_CLASS_RUN, 0);
	gmod_chunks_unused(n);
	gmod_count_freed();
	gmod_run_give(first, n);
}

#endif
