/*
 * A buffer inside its block:
 *
 *     block │ ... │ head canary, two words │ user (16-byte aligned) ... │ user + size: tail canary, 8 bytes or more │
 * rest
 *
 * The head begins at the block unless the program wants its buffer at a rounder address. The tail begins at the very
 * next byte and goes to the end of the block, or GMOD_TAIL_MAX bytes. The first GMOD_FILL_MAX bytes of a freed buffer
 * are the fill: a write after the free beyond them is not seen. The second word of the head of a buffer that is kept
 * back says since which pass, in its low 16 bits.
 */
#ifndef GMOD_DEVICE_BUFFER_H
#define GMOD_DEVICE_BUFFER_H

#include "device_entry.h"

/*
 * Bytes that a buffer needs of its block, where more than GMOD_BLOCK_MAX is a run of its own; align: 16 or a greater
 * power of two. 0: there is no such buffer.
 */
GMOD_DEVICE gmod_u64 gmod_buffer_needs(gmod_u64 size, gmod_u64 align)
{
	gmod_u64 needs = (align + size + GMOD_TAIL_MIN + 7) & ~7ull;

	if (size >= GMOD_SIZE_LIMIT || align > GMOD_ALIGN_MAX)
		return 0;
	if (needs <= GMOD_BLOCK_MAX)
		return needs;
	/* Of a run it is known where it begins: as gmod_entry_chunks() has it. */
	needs = (align <= 32 ? GMOD_HEAD_SIZE : align - GMOD_ENTRY_SIZE) + size + GMOD_TAIL_MIN;
	return needs > GMOD_BLOCK_MAX ? needs : GMOD_BLOCK_MAX + 1;
}

GMOD_DEVICE gmod_u64 *gmod_words_at(gmod_u64 address)
{
	return (gmod_u64 *)address;
}

GMOD_DEVICE_SLOW gmod_u64 gmod_pattern(const struct gmod_buffer *b, gmod_u32 pattern)
{
	return gmod_pattern_of(gmod_unit_heap.key, b->user, b->word & GMOD_ENTRY_WHAT, pattern);
}

GMOD_DEVICE gmod_u64 gmod_buffer_last(const struct gmod_buffer *b)
{
	return b->user + gmod_entry_size(b->word);
}

/* The memory that others have not while it is kept back, about. */
GMOD_DEVICE gmod_u64 gmod_buffer_takes(const struct gmod_buffer *b)
{
	return b->end - b->user + GMOD_HEAD_SIZE + GMOD_ENTRY_SIZE;
}

GMOD_DEVICE gmod_u64 gmod_fill_end(const struct gmod_buffer *b)
{
	gmod_u64 size = gmod_entry_size(b->word);

	return b->user + (size < GMOD_FILL_MAX ? size : GMOD_FILL_MAX);
}

/* Write a pattern over whole words. */
GMOD_DEVICE_SLOW void gmod_stretch_make(gmod_u64 at, gmod_u64 end, gmod_u64 pattern)
{
	GMOD_ROLLED
	for (; at < end; at += 8)
		gmod_store64_relaxed(gmod_words_at(at), pattern);
}

/* Does a stretch of memory hold a pattern? */
GMOD_DEVICE_SLOW bool gmod_stretch_intact(gmod_u64 from, gmod_u64 to, gmod_u64 pattern)
{
	gmod_u64 mask = ~0ull << 8 * (from % 8);

	GMOD_ROLLED
	for (from &= ~7ull; from < to; from += 8, mask = ~0ull) {
		if (to - from < 8)
			mask &= ~0ull >> 8 * (from - to + 8);
		if (gmod_load_part(from, mask) ^ (pattern & mask))
			return false;
	}
	return true;
}

/* Write head and tail around the user's bytes, of which the last word may hold anything yet. */
GMOD_DEVICE void gmod_buffer_make(const struct gmod_buffer *b)
{
	gmod_stretch_make(b->user - GMOD_HEAD_SIZE, b->user, gmod_pattern(b, GMOD_PATTERN_HEAD));
	gmod_stretch_make(gmod_buffer_last(b) & ~7ull, b->end, gmod_pattern(b, GMOD_PATTERN_TAIL));
}

/* Write the fill; the bytes behind the last whole word are the tail's too. */
GMOD_DEVICE void gmod_buffer_fill(const struct gmod_buffer *b)
{
	gmod_u64 fill = gmod_pattern(b, GMOD_PATTERN_FILL), end = gmod_fill_end(b);

	gmod_stretch_make(b->user, end & ~7ull, fill);
	GMOD_ROLLED
	for (gmod_u64 at = end & ~7ull; at < end; at++, fill >>= 8)
		*(volatile gmod_u8 *)at = (gmod_u8)fill;
}

/* Is a buffer not as it should be, and not known to be? */
GMOD_DEVICE_SLOW bool gmod_buffer_is_corrupt(const struct gmod_buffer *b)
{
	gmod_u64 head = gmod_pattern(b, GMOD_PATTERN_HEAD),
		 second = head ^ gmod_load64_relaxed(gmod_words_at(b->user - 8));

	if (b->word & GMOD_ENTRY_REPORTED)
		return false;
	if (second >> (gmod_entry_state_of(b->word) == GMOD_ENTRY_FREED ? 16 : 0) ||
	    head != gmod_load64_relaxed(gmod_words_at(b->user - 16)))
		return true;
	if (!gmod_stretch_intact(gmod_buffer_last(b), b->end, gmod_pattern(b, GMOD_PATTERN_TAIL)))
		return true;
	return gmod_entry_state_of(b->word) >= GMOD_ENTRY_FREED &&
	       !gmod_stretch_intact(b->user, gmod_fill_end(b), gmod_pattern(b, GMOD_PATTERN_FILL));
}

#endif
