/*
 * Sets of chunk numbers that any thread may add to, take from and search, without locks: one of each class's chunks,
 * and one of those that nobody has.
 *
 * A set is gmod_unit_heap.set_words words, which are the truth, and set_marks words of a summary. A summary bit stands
 * for a word: set before or soon after its word becomes non-zero, cleared by whoever empties the word, who then looks
 * again. So once everybody is done, a non-zero word has its summary bit; while an adder is between its two steps
 * gmod_set_find() may miss the word. The bit of who was too slow for that may stay with an empty word: gmod_set_find()
 * looks beyond a few of these. gmod_set_find_all() misses nothing. Model: tests/models/set.pml.
 */
#ifndef GMOD_DEVICE_SET_H
#define GMOD_DEVICE_SET_H

#include "device_heap.h"

#define GMOD_SET_NONE 0xffffffffu

GMOD_DEVICE gmod_u32 *gmod_set_words(gmod_u32 set)
{
	return gmod_unit_heap.sets + set * (gmod_unit_heap.set_words + gmod_unit_heap.set_marks);
}

GMOD_DEVICE gmod_u32 *gmod_set_marks(gmod_u32 set)
{
	return gmod_set_words(set) + gmod_unit_heap.set_words;
}

/* Add members of one word. */
GMOD_DEVICE_SLOW void gmod_set_add_mask(gmod_u32 set, gmod_u32 word, gmod_u32 mask)
{
	/* release, both: what the members stand for is there for who takes them, and the word for who sees the mark */
	if (gmod_or32_release(&gmod_set_words(set)[word], mask) == 0)
		gmod_or32_release(&gmod_set_marks(set)[word / 32], 1u << word % 32);
}

GMOD_DEVICE void gmod_set_add(gmod_u32 set, gmod_u32 member)
{
	gmod_set_add_mask(set, member / 32, 1u << member % 32);
}

/* A word is empty, as it seems: so is its mark, unless somebody has added meanwhile, whose mark may have come before.
 */
GMOD_DEVICE void gmod_set_unmark(gmod_u32 set, gmod_u32 word)
{
	gmod_and32_relaxed(&gmod_set_marks(set)[word / 32], ~(1u << word % 32));
	gmod_fence(); /* with the mark of whoever has added before we cleared it: the member is seen then */
	if (gmod_load32_relaxed(&gmod_set_words(set)[word]))
		gmod_or32_relaxed(&gmod_set_marks(set)[word / 32], 1u << word % 32);
}

/* Take members of one word; returns those that were there. */
GMOD_DEVICE_SLOW gmod_u32 gmod_set_take_mask(gmod_u32 set, gmod_u32 word, gmod_u32 mask)
{
	/* acquire: what the members stand for */
	gmod_u32 old = gmod_and32_acquire(&gmod_set_words(set)[word], ~mask);

	if (old && !(old & ~mask))
		gmod_set_unmark(set, word);
	return old & mask;
}

GMOD_DEVICE gmod_u32 gmod_set_take(gmod_u32 set, gmod_u32 member)
{
	return gmod_set_take_mask(set, member / 32, 1u << member % 32);
}

/* The lowest bit of v from `from` on, or of all where there are none; v is not 0. */
GMOD_DEVICE gmod_u32 gmod_bit_from(gmod_u32 v, gmod_u32 from)
{
	gmod_u32 rest = v & (~0u << from % 32);

	return gmod_lowest(rest ? rest : v);
}

/* A member of a word's, where it can be one. */
GMOD_DEVICE gmod_u32 gmod_set_member(gmod_u32 word, gmod_u32 bit)
{
	return word * 32 + bit < gmod_unit_heap.chunks ? word * 32 + bit : GMOD_SET_NONE;
}

/* Looks at every word: where nothing else is left to try. */
GMOD_DEVICE_SLOW gmod_u32 gmod_set_find_all(gmod_u32 set)
{
	GMOD_ROLLED
	for (gmod_u32 w = 0; w < gmod_unit_heap.set_words; w++) {
		gmod_u32 v = gmod_load32_acquire(&gmod_set_words(set)[w]);

		if (v)
			return gmod_set_member(w, gmod_lowest(v));
	}
	return GMOD_SET_NONE;
}

/* A member, at `start` or after it where possible; it may be gone when the caller looks. */
GMOD_DEVICE_SLOW gmod_u32 gmod_set_find(gmod_u32 set, gmod_u32 start)
{
	gmod_u32 first = start / 32 < gmod_unit_heap.set_words ? start / 32 : 0, m = first / 32;

	GMOD_ROLLED
	for (gmod_u32 i = 0; i < gmod_unit_heap.set_marks; i++) {
		gmod_u32 marks = gmod_load32_relaxed(&gmod_set_marks(set)[m]);

		GMOD_ROLLED
		for (int tries = 0; marks && tries < 8; tries++) {
			gmod_u32 bit = gmod_bit_from(marks, i ? 0 : first), word = m * 32 + bit;
			gmod_u32 v =
			    word < gmod_unit_heap.set_words ? gmod_load32_acquire(&gmod_set_words(set)[word]) : 0;

			if (v)
				return gmod_set_member(word, gmod_bit_from(v, word == first ? start : 0));
			marks &= ~(1u << bit);
		}
		m = m + 1 < gmod_unit_heap.set_marks ? m + 1 : 0;
	}
	return GMOD_SET_NONE;
}

#endif
