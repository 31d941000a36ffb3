/*
 * A set of chunk numbers that any thread may add to, take from and search, without locks.
 *
 * `words` is the truth. A summary bit stands for a word: set before or soon after its word becomes non-zero, cleared by
 * whoever empties the word, who then looks again. So once everybody is done, a non-zero word has its summary bit; while
 * an adder is between its two steps gmod_set_find() may miss the word. gmod_set_find_all() misses nothing.
 * Model: tests/models/set.pml.
 */
#ifndef GMOD_DEVICE_SET_H
#define GMOD_DEVICE_SET_H

#include "device_heap.h"

#define GMOD_SET_NONE 0xffffffffu

GMOD_DEVICE gmod_u32 gmod_set_words(gmod_u32 members)
{
	return (members + 63) / 64;
}

GMOD_DEVICE void gmod_set_mark(struct gmod_set *s, gmod_u32 word)
{
	/* release: the word's bit is there for who sees the mark */
	gmod_or64_release(&s->summary[word / 64], 1ull << word % 64);
}

/* Add members of one word. */
GMOD_DEVICE void gmod_set_add_mask(struct gmod_set *s, gmod_u32 word, gmod_u64 mask)
{
	/* release: what the members stand for is there for who takes them */
	if (gmod_or64_release(&s->words[word], mask) == 0)
		gmod_set_mark(s, word);
}

GMOD_DEVICE void gmod_set_add(struct gmod_set *s, gmod_u32 member)
{
	gmod_set_add_mask(s, member / 64, 1ull << member % 64);
}

/* Take members of one word; returns those that were there. */
GMOD_DEVICE gmod_u64 gmod_set_take_mask(struct gmod_set *s, gmod_u32 word, gmod_u64 mask)
{
	gmod_u64 old = gmod_and64_release(&s->words[word], ~mask);

	if (old && !(old & ~mask)) {
		gmod_and64_release(&s->summary[word / 64], ~(1ull << word % 64));
		/* Ours may have come after the mark of somebody who has added meanwhile. */
		gmod_fence();
		if (gmod_load64_relaxed(&s->words[word]))
			gmod_set_mark(s, word);
	}
	return old & mask;
}

GMOD_DEVICE gmod_u64 gmod_set_take(struct gmod_set *s, gmod_u32 member)
{
	return gmod_set_take_mask(s, member / 64, 1ull << member % 64);
}

/* The bits of v from `from` on, or all of them where there are none. */
GMOD_DEVICE gmod_u64 gmod_bits_from(gmod_u64 v, gmod_u32 from)
{
	gmod_u64 rest = v & (~0ull << from % 64);

	return rest ? rest : v;
}

/* Looks at every word: where nothing else is left to try. */
GMOD_DEVICE_SLOW gmod_u32 gmod_set_find_all(const struct gmod_set *s, gmod_u32 members)
{
	for (gmod_u32 w = 0; w < gmod_set_words(members); w++) {
		gmod_u64 v = gmod_load64_acquire(&s->words[w]);

		if (v)
			return w * 64 + (gmod_u32)gmod_lowest(v);
	}
	return GMOD_SET_NONE;
}

/* A member, at `start` or after it where possible; it may be gone when the caller looks. */
GMOD_DEVICE gmod_u32 gmod_set_find(const struct gmod_set *s, gmod_u32 members, gmod_u32 start)
{
	gmod_u32 words = gmod_set_words(members), marks = gmod_set_words(words), first = start / 64 % words;

	for (gmod_u32 i = 0; i < marks; i++) {
		gmod_u32 m = (first / 64 + i) % marks;
		gmod_u64 summary = gmod_load64_relaxed(&s->summary[m]);

		for (int tries = 0; summary && tries < 8; tries++) {
			gmod_u32 bit = (gmod_u32)gmod_lowest(gmod_bits_from(summary, i ? 0 : first % 64));
			gmod_u32 word = m * 64 + bit;
			gmod_u64 v = gmod_load64_acquire(&s->words[word]);

			if (v)
				return word * 64 + (gmod_u32)gmod_lowest(gmod_bits_from(v, word == first ? start : 0));
			summary &= ~(1ull << bit);
		}
	}
	return GMOD_SET_NONE;
}

/*
 * Take some member, at `start` or after it where possible: who takes at the same time had better start elsewhere.
 * GMOD_SET_NONE if there is none, or none that can be found quickly.
 */
GMOD_DEVICE gmod_u32 gmod_set_take_any(struct gmod_set *s, gmod_u32 members, gmod_u32 start)
{
	for (;;) {
		gmod_u32 member = gmod_set_find(s, members, start);

		if (member == GMOD_SET_NONE || gmod_set_take(s, member))
			return member;
	}
}

#endif
