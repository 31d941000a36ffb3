/*
 * Canary words: a keyed pseudo-random function over buffer, side and position.
 *
 * One 128-bit key per process (lib/base/phase.h) gives each (address, size, allocation serial, side) a 128-bit subkey
 * by SipHash-2-4; word i of that side is SipHash-2-4 of i under the subkey. Knowing some words, or a whole zone, tells
 * nothing about any other word, and a freed buffer's canaries are worth nothing for the next at its address.
 * Bytes 0x00 and 0xff are replaced, because those are what a stray one-byte store most often writes.
 *
 * SipHash: Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012. Reference vectors in
 * tests/unit/test_canary.c.
 */
#ifndef GMOD_MONITOR_REGISTRY_CANARY_H
#define GMOD_MONITOR_REGISTRY_CANARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/registry/layout.h"

/* Expands to the words of one side of one buffer. Word 0 covers the 8 bytes at `origin`, which is 8-byte aligned. */
struct gmod_canary {
	uint64_t key[2];
	uint64_t origin;
	bool repeats; /* each word is key[0]: what a fill of the device's leaves */
};

/* How some bytes differ from their canary: first..last bound the changed bytes, as addresses. */
struct gmod_diff {
	uint64_t first, last;
	uint64_t changed;
};

/* origin may be any address of the zone; it is rounded down to a word. */
void gmod_canary_init(struct gmod_canary *c, const uint64_t key[2], uint64_t user, uint64_t size, uint64_t serial,
		      enum gmod_side side, uint64_t origin);

/* How words are made: one at a time or several, all the same words. */
enum gmod_way { GMOD_PLAIN, GMOD_AVX2, GMOD_AVX512 };

/* The fastest for this CPU, which is what the functions below go by. */
enum gmod_way gmod_canary_way(void);

/* Words first to first + count - 1, and perhaps some more: there is room for count rounded up to this many. */
enum { GMOD_WORDS_MULTIPLE = 16 };
void gmod_canary_words(enum gmod_way way, const struct gmod_canary *c, uint64_t first, size_t count, uint64_t *words);

/* Canary bytes of [from, to) into out, which has room for to - from bytes, or is the memory there itself. */
void gmod_canary_bytes(const struct gmod_canary *c, uint64_t from, uint64_t to, void *out);

/*
 * All canaries of a new buffer: in its zones, in its lines, and in its slack, which is written as well unless `slack`
 * has room for it.
 */
void gmod_canary_place(struct gmod_canary canary[2], const uint64_t key[2], uint64_t serial,
		       const struct gmod_bounds *bounds, struct gmod_lines *lines, struct gmod_slack *slack);

/*
 * Compare [from, to) as found at `bytes` (the memory itself, or a copy of it) and widen *diff by what differs;
 * returns true when all of it is intact. Start with a zeroed *diff.
 */
bool gmod_canary_compare(const struct gmod_canary *c, uint64_t from, uint64_t to, const void *bytes,
			 struct gmod_diff *diff);

/* The same against a remembered copy instead of the canary. */
bool gmod_bytes_compare(const uint8_t *expected, uint64_t from, uint64_t to, const void *bytes, struct gmod_diff *diff);

#endif
