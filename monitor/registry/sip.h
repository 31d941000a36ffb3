/*
 * SipHash-2-4, in pieces: start with a key, absorb 64-bit words, finish. For the host and for the patrol's kernel.
 *
 * Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012. Reference vectors in tests/unit/test_canary.c.
 */
#ifndef GMOD_SIP_H
#define GMOD_SIP_H

#include "include/gmod/device_port.h"

struct gmod_sip {
	gmod_u64 a, b, c, d;
};

/* Of words, and of vectors of words, which monitor/registry/canary.c works on where the CPU can. */
#define GMOD_ROTATE(v, bits) ((v) << (bits) | (v) >> (64 - (bits)))

#define GMOD_SIP_ROUND(s) \
	do { \
		(s)->a += (s)->b; \
		(s)->c += (s)->d; \
		(s)->b = GMOD_ROTATE((s)->b, 13) ^ (s)->a; \
		(s)->d = GMOD_ROTATE((s)->d, 16) ^ (s)->c; \
		(s)->a = GMOD_ROTATE((s)->a, 32); \
		(s)->c += (s)->b; \
		(s)->a += (s)->d; \
		(s)->b = GMOD_ROTATE((s)->b, 17) ^ (s)->c; \
		(s)->d = GMOD_ROTATE((s)->d, 21) ^ (s)->a; \
		(s)->c = GMOD_ROTATE((s)->c, 32); \
	} while (0)

/* By value: the host's keys are of another type of the same size. */
GMOD_DEVICE struct gmod_sip gmod_sip_start(gmod_u64 key0, gmod_u64 key1)
{
	struct gmod_sip s = {key0 ^ 0x736f6d6570736575ull, key1 ^ 0x646f72616e646f6dull, key0 ^ 0x6c7967656e657261ull,
			     key1 ^ 0x7465646279746573ull};

	return s;
}

/* The rounds stay a loop on a GPU: small code. It is compiled when the program runs, and fetched anew in each round. */
GMOD_DEVICE void gmod_sip_rounds(struct gmod_sip *s, int rounds)
{
	GMOD_ROLLED
	for (int i = 0; i < rounds; i++)
		GMOD_SIP_ROUND(s);
}

GMOD_DEVICE void gmod_sip_absorb(struct gmod_sip *s, gmod_u64 word)
{
	s->d ^= word;
	gmod_sip_rounds(s, 2);
	s->a ^= word;
}

GMOD_DEVICE gmod_u64 gmod_sip_finish(struct gmod_sip *s)
{
	s->c ^= 0xff;
	gmod_sip_rounds(s, 4);
	return s->a ^ s->b ^ s->c ^ s->d;
}

/* Of five words, the last of which says what for: each use has a number of its own there. */
GMOD_DEVICE gmod_u64 gmod_sip_of(gmod_u64 key0, gmod_u64 key1, gmod_u64 user, gmod_u64 size, gmod_u64 serial,
				 gmod_u64 fourth, gmod_u64 use)
{
	struct gmod_sip s = gmod_sip_start(key0, key1);

	GMOD_ROLLED
	for (int i = 0; i < 6; i++)
		gmod_sip_absorb(&s, i == 0   ? user
				    : i == 1 ? size
				    : i == 2 ? serial
				    : i == 3 ? fourth
				    : i == 4 ? use
					     : 40ull << 56);
	return gmod_sip_finish(&s);
}

#endif
