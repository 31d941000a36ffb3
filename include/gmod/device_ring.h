/*
 * Findings on their way to the host: a ring in pinned memory.
 *
 * A slot is reserved by counting up `findings`, filled, sealed, and published by its sequence number. The host takes
 * findings in order and says how many it has taken; who finds the ring full takes no number, and has to come again. A
 * finding has the words that are in and around the buffer: the host knows the key, and says what is wrong with them.
 * The seal is a keyed mix over the finding, so that a kernel that scribbles over the ring destroys findings and invents
 * none; the host checks it on a copy of its own. `said` is no more than a hint: where it and the next slot disagree for
 * a while, the host asks `findings` how many there are, and passes over those of them that are not there a while later:
 * they were destroyed.
 */
#ifndef GMOD_DEVICE_RING_H
#define GMOD_DEVICE_RING_H

#include "device_canary.h"
#include "device_slab.h"

/* Over the sequence number, and from the class to the last of `count` words. */
GMOD_DEVICE gmod_u64 gmod_finding_seal(const gmod_u64 key[2], const struct gmod_device_finding *f, gmod_u32 count)
{
	const gmod_u64 *word = &f->class_, *end = f->words + count;
	gmod_u64 seal = f->sequence;

	while (word < end)
		seal = gmod_mix(key, seal, *word++);
	return seal;
}

/* The number of a finding to come; 0: there is no room. */
GMOD_DEVICE_ONCE gmod_u64 gmod_ring_reserve(void)
{
	gmod_u64 *at = &gmod_unit_heap.state->findings, n = gmod_load64_relaxed(at), seen;

	while (n - gmod_load64_system(&gmod_unit_heap.ring->taken) < GMOD_RING_SLOTS) {
		seen = gmod_cas64_relaxed(at, n, n + 1);
		if (seen == n)
			return n + 1;
		n = seen;
	}
	gmod_store64_system(&gmod_unit_heap.ring->said, ~0ull); /* is it so? The count may have been overwritten. */
	return 0;
}

GMOD_DEVICE struct gmod_device_finding *gmod_ring_slot(gmod_u64 sequence)
{
	return &gmod_unit_heap.ring->slot[(sequence - 1) % GMOD_RING_SLOTS];
}

/* A finding that is being written: its next word, and the seal over those before. */
struct gmod_pen {
	gmod_u64 *at, seal, sequence;
	gmod_u64 field[6]; /* from the class to the owner */
	const struct gmod_buffer *b;
};

/* Write the words in [from, to) of memory, and seal them. */
GMOD_DEVICE_SLOW void gmod_pen_copy(struct gmod_pen *pen, gmod_u64 from, gmod_u64 to)
{
	gmod_u64 *at = pen->at, seal = pen->seal, word;

	GMOD_ROLLED
	for (; from < to; from += 8) {
		word = gmod_load_any((const gmod_u64 *)from);
		gmod_store64_relaxed(at++, word);
		seal = gmod_mix(gmod_unit_heap.key, seal, word);
	}
	pen->at = at;
	pen->seal = seal;
}

/* The seal, and there it is. */
GMOD_DEVICE void gmod_pen_end(const struct gmod_pen *pen)
{
	struct gmod_device_finding *slot = gmod_ring_slot(pen->sequence);

	gmod_store64_relaxed(&slot->seal, pen->seal);
	/* release, for the host: the finding is all there */
	gmod_store64_release_system(&slot->sequence, pen->sequence);
	gmod_store64_system(&gmod_unit_heap.ring->said, pen->sequence);
}

#endif
