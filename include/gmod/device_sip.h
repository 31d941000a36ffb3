/*
 * SipHash, in pieces: start with a key, absorb 64-bit words, finish. Those who use it choose the rounds, SipHash-2-4
 * for buffers of the host (lib/canary.c) and SipHash-1-3 on the device (device_canary.h, device_ring.h), and what they
 * mix in before the end.
 *
 * Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012. Reference vectors in tests/unit/test_canary.c.
 */
#ifndef GMOD_DEVICE_SIP_H
#define GMOD_DEVICE_SIP_H

#include "device_port.h"

struct gmod_sip {
	gmod_u64 a, b, c, d;
};

GMOD_DEVICE gmod_u64 gmod_rotate(gmod_u64 v, int bits)
{
	return v << bits | v >> (64 - bits);
}

GMOD_DEVICE void gmod_sip_round(struct gmod_sip *s)
{
	s->a += s->b;
	s->c += s->d;
	s->b = gmod_rotate(s->b, 13) ^ s->a;
	s->d = gmod_rotate(s->d, 16) ^ s->c;
	s->a = gmod_rotate(s->a, 32);
	s->c += s->b;
	s->a += s->d;
	s->b = gmod_rotate(s->b, 17) ^ s->c;
	s->d = gmod_rotate(s->d, 21) ^ s->a;
	s->c = gmod_rotate(s->c, 32);
}

/* By value: the host's keys are of another type of the same size. */
GMOD_DEVICE struct gmod_sip gmod_sip_start(gmod_u64 key0, gmod_u64 key1)
{
	struct gmod_sip s = {key0 ^ 0x736f6d6570736575ull, key1 ^ 0x646f72616e646f6dull, key0 ^ 0x6c7967656e657261ull,
			     key1 ^ 0x7465646279746573ull};

	return s;
}

GMOD_DEVICE void gmod_sip_absorb(struct gmod_sip *s, gmod_u64 word, int rounds)
{
	s->d ^= word;
	for (int i = 0; i < rounds; i++)
		gmod_sip_round(s);
	s->a ^= word;
}

/* The next word of the result. */
GMOD_DEVICE gmod_u64 gmod_sip_word(struct gmod_sip *s, int rounds)
{
	for (int i = 0; i < rounds; i++)
		gmod_sip_round(s);
	return s->a ^ s->b ^ s->c ^ s->d;
}

#endif
