/*
 * A buffer inside its block:
 *
 *     block           +8               user (16-byte aligned)        user + size
 *     │ head canary   │ sealed header  │ the program's bytes ...     │ tail canary: 8 bytes or more │ not looked at
 *
 * The tail begins at the very next byte and goes to the end of the block, or GMOD_TAIL_MAX bytes. The header holds
 * size, generation and state, under a pad, so that a copy of it means nothing elsewhere.
 *
 *     LIVE ──freeN──► FREEING ──freeN──► FREED ──guard──► DEAD (the block may have another owner)
 *
 * LIVE to FREEING is one atomic operation: whoever loses it has freed twice. The winner alone writes the free fill,
 * before FREED. The guard verifies FREED buffers and releases them; whoever writes to one before that is seen by the
 * fill (first GMOD_FILL_MAX bytes) or the canaries. The canaries are the same in all states, so a look at them that is
 * overtaken by a free sees nothing wrong.
 */
#ifndef GMOD_DEVICE_BUFFER_H
#define GMOD_DEVICE_BUFFER_H

#include "device_canary.h"
#include "device_slab.h"

#define GMOD_STATE(n) ((gmod_u64)(n) << 60)
#define GMOD_STATE_MASK GMOD_STATE(15)
#define GMOD_STATE_LIVE GMOD_STATE(1)
#define GMOD_STATE_FREEING GMOD_STATE(2)
#define GMOD_STATE_FREED GMOD_STATE(4)
#define GMOD_STATE_DEAD GMOD_STATE(8)

GMOD_DEVICE gmod_u64 gmod_meta(gmod_u64 size, gmod_u32 generation)
{
	return size | (gmod_u64)(generation & ((1u << GMOD_META_GENERATION_BITS) - 1)) << GMOD_META_SIZE_BITS;
}

GMOD_DEVICE gmod_u64 gmod_meta_size(gmod_u64 meta)
{
	return meta & (GMOD_SIZE_LIMIT - 1);
}

GMOD_DEVICE gmod_u32 gmod_meta_generation(gmod_u64 meta)
{
	return (gmod_u32)(meta >> GMOD_META_SIZE_BITS) & ((1u << GMOD_META_GENERATION_BITS) - 1);
}

/* Bytes that a buffer needs of its block; size is below GMOD_SIZE_LIMIT. */
GMOD_DEVICE gmod_u64 gmod_buffer_needs(gmod_u64 size)
{
	return (GMOD_HEAD_SIZE + size + GMOD_TAIL_MIN + 7) & ~7ull;
}

GMOD_DEVICE gmod_u64 *gmod_words_at(gmod_u64 address)
{
	return (gmod_u64 *)address;
}

GMOD_DEVICE gmod_u64 *gmod_head_word(gmod_u64 user)
{
	return gmod_words_at(user - 16);
}

GMOD_DEVICE gmod_u64 *gmod_header_word(gmod_u64 user)
{
	return gmod_words_at(user - 8);
}

/* Where the tail ends. block_size: of a block that the buffer fits into. */
GMOD_DEVICE gmod_u64 gmod_tail_end(gmod_u64 user, gmod_u64 size, gmod_u64 block_size)
{
	gmod_u64 end = user - GMOD_HEAD_SIZE + block_size, limit = (user + size + GMOD_TAIL_MAX) & ~7ull;

	return end < limit ? end : limit;
}

/* The pattern of freed bytes. */
GMOD_DEVICE gmod_u64 gmod_fill_word(const struct gmod_secrets *s)
{
	return gmod_without_plain_bytes(GMOD_ROTATE(s->tail, 24) ^ GMOD_ROTATE(s->head, 40));
}

/* Write head and tail around the user's bytes, of which the last word may hold anything yet. */
GMOD_DEVICE void gmod_buffer_make(const gmod_u64 key[2], gmod_u64 user, gmod_u64 meta, gmod_u64 block_size)
{
	struct gmod_secrets s = gmod_secrets_of(key, user, meta);
	gmod_u64 size = gmod_meta_size(meta), end = gmod_tail_end(user, size, block_size);

	gmod_store64_relaxed(gmod_head_word(user), s.head);
	for (gmod_u64 at = (user + size) & ~7ull; at < end; at += 8)
		gmod_store64_relaxed(gmod_words_at(at), s.tail);
	/* release: whoever finds the header LIVE finds the canaries */
	gmod_store64_release(gmod_header_word(user), (meta | GMOD_STATE_LIVE) ^ s.pad);
}

/* How bytes differ from what they should be, as offsets from the user's first byte; nothing changed: last < first. */
struct gmod_change {
	long long first, last;
};

GMOD_DEVICE struct gmod_change gmod_no_change(void)
{
	struct gmod_change c = {0, -1};

	return c;
}

GMOD_DEVICE void gmod_note_change(struct gmod_change *c, long long offset)
{
	if (c->last < c->first)
		c->first = c->last = offset;
	else if (offset < c->first)
		c->first = offset;
	else if (offset > c->last)
		c->last = offset;
}

GMOD_DEVICE void gmod_compare_word(struct gmod_change *c, long long offset, gmod_u64 found, gmod_u64 expected)
{
	gmod_u64 differ = found ^ expected;

	for (int i = 0; differ && i < 8; i++)
		if (differ >> 8 * i & 0xff)
			gmod_note_change(c, offset + i);
}

/* Which bits of the bytes [from, to) of an aligned word are not those of the pattern. */
GMOD_DEVICE gmod_u64 gmod_part_differs(gmod_u64 word, gmod_u32 from, gmod_u32 to, gmod_u64 pattern)
{
	gmod_u64 mask = (~0ull >> (64 - 8 * (to - from))) << 8 * from;

	return (gmod_load_part(word, from, to) ^ pattern) & mask;
}

/*
 * Does a stretch of memory hold one pattern? All loads of a round are on their way before the first is looked at: the
 * guard's time is what it waits for memory.
 */
GMOD_DEVICE bool gmod_stretch_intact(gmod_u64 from, gmod_u64 to, gmod_u64 pattern)
{
	gmod_u64 at = (from + 7) & ~7ull, end = to & ~7ull, differ = 0, v[4];

	if (from >= to)
		return true;
	if (at > end) /* inside one word */
		return !gmod_part_differs(end, (gmod_u32)from % 8, (gmod_u32)to % 8, pattern);
	if (from < at)
		differ = gmod_part_differs(at - 8, (gmod_u32)from % 8, 8, pattern);
	if (end < to)
		differ |= gmod_part_differs(end, 0, (gmod_u32)to % 8, pattern);
	for (; end - at >= 32; at += 32) {
		for (int i = 0; i < 4; i++)
			v[i] = gmod_load64_relaxed(gmod_words_at(at + 8 * i));
		differ |= (v[0] ^ pattern) | (v[1] ^ pattern) | (v[2] ^ pattern) | (v[3] ^ pattern);
	}
	for (; at < end; at += 8)
		differ |= gmod_load64_relaxed(gmod_words_at(at)) ^ pattern;
	return !differ;
}

/* Where it does not. */
GMOD_DEVICE_SLOW struct gmod_change gmod_stretch_change(gmod_u64 user, gmod_u64 from, gmod_u64 to, gmod_u64 pattern)
{
	struct gmod_change c = gmod_no_change();

	for (; from < to; from++)
		if (gmod_part_differs(from & ~7ull, (gmod_u32)from % 8, (gmod_u32)from % 8 + 1, pattern))
			gmod_note_change(&c, (long long)(from - user));
	return c;
}

/* The state a header says, 0 if it is none that this buffer's header can have. */
GMOD_DEVICE gmod_u64 gmod_header_state(gmod_u64 header, gmod_u64 meta, gmod_u64 pad)
{
	gmod_u64 state = header ^ pad ^ meta;

	return state == GMOD_STATE_LIVE || state == GMOD_STATE_FREEING || state == GMOD_STATE_FREED ? state : 0;
}

/* Head canary and header as found, against what they should be: of the header's states, LIVE. */
GMOD_DEVICE void gmod_compare_head(struct gmod_change *c, const struct gmod_secrets *s, gmod_u64 meta, gmod_u64 head,
				   gmod_u64 header)
{
	gmod_compare_word(c, -16, head, s->head);
	if (!gmod_header_state(header, meta, s->pad))
		gmod_compare_word(c, -8, header, (meta | GMOD_STATE_LIVE) ^ s->pad);
}

/* The first bytes of a freed buffer. */
GMOD_DEVICE gmod_u64 gmod_fill_end(gmod_u64 user, gmod_u64 size)
{
	return user + (size < GMOD_FILL_MAX ? size : GMOD_FILL_MAX);
}

GMOD_DEVICE void gmod_fill_freed(const struct gmod_secrets *s, gmod_u64 user, gmod_u64 size)
{
	gmod_u64 fill = gmod_fill_word(s), end = gmod_fill_end(user, size), at = user;

	for (; end - at >= 8; at += 8)
		gmod_store64_relaxed(gmod_words_at(at), fill);
	for (; at < end; at++, fill >>= 8)
		*(volatile gmod_u8 *)at = (gmod_u8)fill;
}

#endif
