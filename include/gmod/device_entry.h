/*
 * The entry of a block: which buffer is in it, out of reach of the buffer's neighbours but the last one of the chunk
 * before, and who allocated it. It is what the paper's byte array has for each buffer, found by the block's address
 * instead of by a search.
 *
 *     word: size 36 │ offset 12: of the buffer in its block, by 16 bytes │ generation 12 │ state 4
 *     who:  check 24 │ who allocated it 40
 *
 *     NONE ──mallocN──► BUSY ──► LIVE ──freeN──► BUSY ──► DEAD ──mallocN──► BUSY ...
 *                                                 └─► FREED ──guard──► BUSY ──► DEAD
 *
 * LIVE to BUSY is one atomic operation: whoever loses it has freed twice. BUSY is nobody's but the thread's that made
 * it so. FREED is a buffer that is kept back (device_free_delay, or a finding that the ring had no room for); DEAD, one
 * whose block is free. Both hold the fill, so a late write is seen: by the guard, and by mallocN when the block is
 * handed out again.
 *
 * The check is a keyed mix over all the rest but state and flag; an entry that is NONE has a word of its chunk's own,
 * which zeros are not. What does not bear it out has been overwritten, and is neither followed nor reported, nor is its
 * block given out. Whoever reads an entry that others may be changing reads its word again before it says
 * anything about the buffer. The generation tells one buffer of a block from the next. Model: tests/models/entry.pml.
 */
#ifndef GMOD_DEVICE_ENTRY_H
#define GMOD_DEVICE_ENTRY_H

#include "device_canary.h"
#include "device_slab.h"

struct gmod_entry {
	gmod_u64 word, who;
};

enum gmod_entry_state { GMOD_ENTRY_NONE, GMOD_ENTRY_BUSY, GMOD_ENTRY_LIVE, GMOD_ENTRY_FREED, GMOD_ENTRY_DEAD };

#define GMOD_ENTRY_STATE 7ull
#define GMOD_ENTRY_REPORTED 8ull /* corrupt, and said so */
#define GMOD_ENTRY_WHAT (~15ull) /* of the word, what does not change while the buffer lives */

GMOD_DEVICE gmod_u32 gmod_entry_state_of(gmod_u64 word)
{
	return (gmod_u32)(word & GMOD_ENTRY_STATE);
}

GMOD_DEVICE gmod_u64 gmod_entry_turned(gmod_u64 word, enum gmod_entry_state state)
{
	return (word & ~GMOD_ENTRY_STATE) | state;
}

GMOD_DEVICE gmod_u64 gmod_entry_size(gmod_u64 word)
{
	return word >> 28;
}

GMOD_DEVICE gmod_u32 gmod_entry_offset(gmod_u64 word)
{
	return (gmod_u32)(word >> 16 & 0xfff) * 16;
}

/* The next buffer's word after that of the block's last one; offset: of the buffer in its block. */
GMOD_DEVICE gmod_u64 gmod_entry_next(gmod_u64 last, gmod_u64 size, gmod_u64 offset)
{
	return size << 28 | offset / 16 << 16 | (((last >> 4) + 1) & 0xfff) << 4 | GMOD_ENTRY_LIVE;
}

/* The calling thread. */
GMOD_DEVICE_SLOW gmod_u64 gmod_who(void)
{
	gmod_u64 block = gmod_block_id();

	return block < GMOD_WHO_UNKNOWN >> 10 ? block << 10 | gmod_thread_in_block() : GMOD_WHO_UNKNOWN;
}

GMOD_DEVICE gmod_u32 gmod_place_class(gmod_u64 place)
{
	return (gmod_u32)(place >> 56);
}

GMOD_DEVICE bool gmod_place_is_run(gmod_u64 place)
{
	return gmod_place_class(place) == GMOD_CLASS_RUN;
}

GMOD_DEVICE struct gmod_entry *gmod_entry_at(gmod_u64 place)
{
	return (struct gmod_entry *)(place << 8 >> 8);
}

GMOD_DEVICE gmod_u32 gmod_place_chunk(gmod_u64 place)
{
	return gmod_chunk_at(place << 8 >> 8);
}

/* The number of the block in its chunk. */
GMOD_DEVICE gmod_u32 gmod_place_index(gmod_u64 place)
{
	return ((gmod_u32)place & (GMOD_CHUNK_SIZE - 1)) / GMOD_ENTRY_SIZE;
}

GMOD_DEVICE gmod_u64 gmod_place_block(gmod_u64 place)
{
	gmod_u32 class_ = gmod_place_class(place), index = gmod_place_index(place);
	gmod_u64 chunk = place << 8 >> 8 & ~(gmod_u64)(GMOD_CHUNK_SIZE - 1);

	return chunk + gmod_class_blocks(class_) * GMOD_ENTRY_SIZE + index * gmod_class_size(class_);
}

/* The place of the block that holds an address of a buffer, whatever that is; reads nothing but the chunk table. */
GMOD_DEVICE gmod_u64 gmod_place_at(gmod_u64 user)
{
	gmod_u64 memory = (gmod_u64)gmod_unit_heap.chunks << GMOD_CHUNK_BITS, control;
	gmod_u64 base = user & ~(gmod_u64)(GMOD_CHUNK_SIZE - 1);
	gmod_u32 offset = (gmod_u32)(user - base), class_, table;

	if (user % 16 || user - gmod_unit_heap.base >= memory)
		return 0;
	/* acquire: the entries, as they were made before the kind was set */
	control = gmod_load64_acquire(gmod_control_of(gmod_chunk_at(user)));
	class_ = gmod_control_class(control);
	table = gmod_class_blocks(class_) * GMOD_ENTRY_SIZE;
	if (gmod_control_kind(control) == GMOD_CHUNK_NEW || offset < table + GMOD_HEAD_SIZE)
		return 0;
	if (class_ == GMOD_CLASS_RUN)
		return gmod_place(base, class_);
	offset = (offset - table) / gmod_class_size(class_) * GMOD_ENTRY_SIZE;
	return offset < table ? gmod_place(base + offset, class_) : 0;
}

/* `who` of an entry: a check over the rest of it, and who that is. */
GMOD_DEVICE gmod_u64 gmod_entry_who(gmod_u64 place, gmod_u64 word, gmod_u64 who)
{
	who &= GMOD_WHO_UNKNOWN;
	return gmod_mix(gmod_unit_heap.key, place ^ (word & GMOD_ENTRY_WHAT), who) >> 40 << 40 | who;
}

/* Chunks of the run that a buffer is in. */
GMOD_DEVICE gmod_u64 gmod_entry_chunks(gmod_u64 word)
{
	return (GMOD_ENTRY_SIZE + gmod_entry_offset(word) + gmod_entry_size(word) + GMOD_TAIL_MIN + GMOD_CHUNK_SIZE -
		1) >>
	       GMOD_CHUNK_BITS;
}

/* Where such a buffer lies in its block. The tail goes on for GMOD_TAIL_MAX bytes, or to the end of the block. false:
 * the block has no room for it. */
GMOD_DEVICE_SLOW bool gmod_buffer_lies(struct gmod_buffer *b)
{
	gmod_u64 memory = (gmod_u64)gmod_unit_heap.chunks << GMOD_CHUNK_BITS, block = gmod_place_block(b->place);
	gmod_u64 last = block + gmod_entry_offset(b->word) + gmod_entry_size(b->word);
	gmod_u64 end = gmod_place_is_run(b->place)
			   ? block - GMOD_ENTRY_SIZE + (gmod_entry_chunks(b->word) << GMOD_CHUNK_BITS)
			   : block + gmod_class_size(gmod_place_class(b->place));

	if (last + GMOD_TAIL_MIN > end || gmod_entry_offset(b->word) < GMOD_HEAD_SIZE ||
	    end - gmod_unit_heap.base > memory)
		return false;
	b->user = block + gmod_entry_offset(b->word);
	/* Behind a run that is DEAD there may be others' memory. */
	if (!(gmod_place_is_run(b->place) && gmod_entry_state_of(b->word) == GMOD_ENTRY_DEAD))
		last += GMOD_TAIL_MAX;
	b->end = (last & ~7ull) < end ? last & ~7ull : end;
	return true;
}

/* The word of an entry that has been overwritten; counts it. */
GMOD_DEVICE gmod_u64 gmod_entry_damaged(void)
{
	gmod_add64_relaxed(&gmod_unit_heap.state->damaged, 1);
	return GMOD_ENTRY_STATE;
}

/* Is an entry what mallocN made of it, or what was there before? */
GMOD_DEVICE_SLOW bool gmod_entry_holds(const struct gmod_buffer *b)
{
	gmod_u64 who = gmod_load64_relaxed(&gmod_entry_at(b->place)->who);
	gmod_u32 state = gmod_entry_state_of(b->word);

	if (state == GMOD_ENTRY_NONE)
		return (b->word & ~0xfff0ull) == gmod_word_none(b->place);
	return state <= GMOD_ENTRY_DEAD && who == gmod_entry_who(b->place, b->word, who);
}

#endif
