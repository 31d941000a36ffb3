/*
 * Canaries of in-kernel buffers: SipHash-1-3 with 128 bits of output over address, size and generation, under a key
 * that is made for the device alone. One half is the word before the buffer, the other fills what is behind it. Knowing
 * the canaries of some buffers tells nothing about others. The faster variant is enough here: what it keeps apart are
 * words in one process's memory, not an adversary's chosen inputs.
 *
 * SipHash: Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012.
 */
#ifndef GMOD_DEVICE_CANARY_H
#define GMOD_DEVICE_CANARY_H

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

GMOD_DEVICE void gmod_sip_absorb(struct gmod_sip *s, gmod_u64 word)
{
	s->d ^= word;
	gmod_sip_round(s);
	s->a ^= word;
}

GMOD_DEVICE gmod_u64 gmod_sip_word(struct gmod_sip *s)
{
	for (int i = 0; i < 3; i++)
		gmod_sip_round(s);
	return s->a ^ s->b ^ s->c ^ s->d;
}

/* The 128-bit hash of two words. */
GMOD_DEVICE void gmod_sip128(const gmod_u64 key[2], gmod_u64 first, gmod_u64 second, gmod_u64 out[2])
{
	struct gmod_sip s = {key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull ^ 0xee,
			     key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull};

	gmod_sip_absorb(&s, first);
	gmod_sip_absorb(&s, second);
	gmod_sip_absorb(&s, 16ull << 56);
	s.c ^= 0xee;
	out[0] = gmod_sip_word(&s);
	s.b ^= 0xdd;
	out[1] = gmod_sip_word(&s);
}

/* No byte of the result is 0x00 or 0xff, which is what a stray store of one byte most often writes. */
GMOD_DEVICE gmod_u64 gmod_without_plain_bytes(gmod_u64 v)
{
	const gmod_u64 low = 0x7f7f7f7f7f7f7f7full, one = 0x0101010101010101ull;
	gmod_u64 zero = ~(((v & low) + low) | v | low), ones = ~(((~v & low) + low) | ~v | low);

	/* zero, ones: 0x80 in each such byte; make it 0x5a or 0xa5 */
	return v ^ ((zero >> 7) & one) * 0x5a ^ ((ones >> 7) & one) * 0x5a;
}

/* All that is secret about one buffer. */
struct gmod_secrets {
	gmod_u64 head, tail; /* canary words */
	gmod_u64 pad;        /* over the header that follows the head's canary */
};

/* meta: size and generation, without the state. */
GMOD_DEVICE gmod_u64 gmod_header_pad(const gmod_u64 key[2], gmod_u64 user)
{
	gmod_u64 out[2];

	gmod_sip128(key, user, ~0ull, out);
	return out[0] ^ out[1];
}

GMOD_DEVICE struct gmod_secrets gmod_secrets_of(const gmod_u64 key[2], gmod_u64 user, gmod_u64 meta)
{
	struct gmod_secrets s;
	gmod_u64 out[2];

	gmod_sip128(key, user, meta, out);
	s.head = gmod_without_plain_bytes(out[0]);
	s.tail = gmod_without_plain_bytes(out[1]);
	s.pad = gmod_header_pad(key, user);
	return s;
}

#endif
