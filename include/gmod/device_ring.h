/*
 * Findings on their way to the host: a ring in pinned memory.
 *
 * A slot is reserved by counting up h->findings, filled, sealed, and published by its sequence number. The host takes
 * findings in order and says how many it has taken; who finds the ring full takes no number, and has to come again. The
 * seal is a keyed hash over the finding, so that a kernel that scribbles over the ring destroys findings and
 * invents none; the host checks it on a copy of its own. `said` is no more than a hint: where it and the next slot
 * disagree for a while, the host asks h->findings how many there are, and passes over those of them that are not there
 * a while later: they were destroyed.
 */
#ifndef GMOD_DEVICE_RING_H
#define GMOD_DEVICE_RING_H

#include "device_canary.h"
#include "device_heap.h"

/* Over all fields but the seal itself. */
GMOD_DEVICE gmod_u64 gmod_finding_seal(const gmod_u64 key[2], const struct gmod_device_finding *f)
{
	const gmod_u64 *word = (const gmod_u64 *)f;
	struct gmod_sip s = gmod_sip_start(key[0], key[1]);

	for (gmod_u32 i = 0; i < sizeof(*f) / 8 - 1; i++)
		gmod_sip_absorb(&s, word[i], GMOD_SIP_ABSORB);
	s.c ^= 0xff;
	return gmod_sip_word(&s, GMOD_SIP_FINISH);
}

/* The number of a finding to come; 0: there is no room. */
GMOD_DEVICE gmod_u64 gmod_ring_reserve(struct gmod_device_heap *h)
{
	gmod_u64 n = gmod_load64_relaxed(&h->findings), seen;

	while (n - gmod_load64_system(&h->ring->taken) < GMOD_RING_SLOTS) {
		seen = gmod_cas64_release(&h->findings, n, n + 1);
		if (seen == n)
			return n + 1;
		n = seen;
	}
	return 0;
}

/* false: the ring is full. */
GMOD_DEVICE_SLOW bool gmod_ring_put(struct gmod_device_heap *h, struct gmod_device_finding *f)
{
	gmod_u64 sequence = gmod_ring_reserve(h);
	struct gmod_device_finding *slot = &h->ring->slot[(sequence - 1) % GMOD_RING_SLOTS];
	const gmod_u64 *from = (const gmod_u64 *)f;
	gmod_u64 *to = (gmod_u64 *)slot;

	if (!sequence) {
		gmod_store64_system(&h->ring->said, ~0ull); /* is it so? The count may have been overwritten. */
		return false;
	}
	f->sequence = sequence;
	f->seal = gmod_finding_seal(h->key, f);
	for (gmod_u32 i = 1; i < sizeof(*f) / 8; i++)
		gmod_store64_relaxed(&to[i], from[i]);
	/* release, for the host: the finding is all there */
	gmod_store64_release_system(&slot->sequence, sequence);
	gmod_store64_system(&h->ring->said, sequence);
	return true;
}

#endif
