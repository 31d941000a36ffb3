/*
 * Canaries of in-kernel buffers: a keyed mix over address, size and generation, under a key that is made for the device
 * alone. One word lies before the buffer, another fills what is behind it. The mix is cheap, since a program's kernels
 * pay for it; a kernel that means to forge canaries can read the key anyway.
 *
 * The multipliers are those of Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014, whose
 * finalizer this is with the key mixed in.
 */
#ifndef GMOD_DEVICE_CANARY_H
#define GMOD_DEVICE_CANARY_H

#include "device_port.h"

GMOD_DEVICE gmod_u64 gmod_mix(const gmod_u64 key[2], gmod_u64 first, gmod_u64 second)
{
	gmod_u64 v = (first ^ key[0]) * 0xbf58476d1ce4e5b9ull;

	v = ((v ^ v >> 31) + (second ^ key[1])) * 0x94d049bb133111ebull;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	return v ^ v >> 31;
}

/* The words around a buffer, and in it when it is freed. */
enum gmod_pattern { GMOD_PATTERN_HEAD, GMOD_PATTERN_TAIL, GMOD_PATTERN_FILL };

/*
 * what: the buffer's size and generation, as in its entry. No byte is 0x00 or 0xff, which is what a stray store of one
 * byte most often writes.
 */
GMOD_DEVICE gmod_u64 gmod_pattern_of(const gmod_u64 key[2], gmod_u64 user, gmod_u64 what, gmod_u32 pattern)
{
	return (gmod_mix(key, user + pattern, what) & 0x7f7f7f7f7f7f7f7full) | 0x0101010101010101ull;
}

#endif
