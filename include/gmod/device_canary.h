/*
 * Canaries of in-kernel buffers: SipHash-1-3 with 128 bits of output over address, size and generation, under a key
 * that is made for the device alone. One half is the word before the buffer, the other fills what is behind it. Knowing
 * the canaries of some buffers tells nothing about others. The faster variant is enough here: what it keeps apart are
 * words in one process's memory, not an adversary's chosen inputs.
 */
#ifndef GMOD_DEVICE_CANARY_H
#define GMOD_DEVICE_CANARY_H

#include "device_sip.h"

enum { GMOD_SIP_ABSORB = 1, GMOD_SIP_FINISH = 3 }; /* rounds */

/* The 128-bit hash of two words. */
GMOD_DEVICE void gmod_sip128(const gmod_u64 key[2], gmod_u64 first, gmod_u64 second, gmod_u64 out[2])
{
	struct gmod_sip s = gmod_sip_start(key[0], key[1]);

	s.b ^= 0xee;
	gmod_sip_absorb(&s, first, GMOD_SIP_ABSORB);
	gmod_sip_absorb(&s, second, GMOD_SIP_ABSORB);
	gmod_sip_absorb(&s, 16ull << 56, GMOD_SIP_ABSORB);
	s.c ^= 0xee;
	out[0] = gmod_sip_word(&s, GMOD_SIP_FINISH);
	s.b ^= 0xdd;
	out[1] = gmod_sip_word(&s, GMOD_SIP_FINISH);
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
