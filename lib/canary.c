#include "lib/canary.h"

#include <string.h>

#include "include/gmod/device_sip.h"

/* Two rounds a word, four at the end: SipHash-2-4. */
static inline void absorb(struct gmod_sip *s, uint64_t word)
{
	gmod_sip_absorb(s, word, 2);
}

static inline uint64_t finish(struct gmod_sip *s)
{
	s->c ^= 0xff;
	return gmod_sip_word(s, 4);
}

uint64_t gmod_siphash24(const uint64_t key[2], const void *data, size_t size)
{
	struct gmod_sip s = gmod_sip_start(key[0], key[1]);
	const uint8_t *p = data;
	uint64_t word;
	size_t left = size;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		absorb(&s, word);
	}
	word = 0;
	memcpy(&word, p, left);
	absorb(&s, word | (uint64_t)size << 56);
	return finish(&s);
}

/* SipHash-2-4 of one 8-byte word, unrolled so that a loop over it vectorises. */
static inline uint64_t sip_of_word(const uint64_t key[2], uint64_t word)
{
	struct gmod_sip s = gmod_sip_start(key[0], key[1]);

	absorb(&s, word);
	absorb(&s, (uint64_t)8 << 56);
	return finish(&s);
}

/* 0x80 in every byte of w that is zero; exact, no carries between bytes. */
static inline uint64_t zero_bytes(uint64_t w)
{
	const uint64_t low7 = 0x7f7f7f7f7f7f7f7fu;

	return ~(((w & low7) + low7) | w | low7);
}

static inline uint64_t avoid_extremes(uint64_t w)
{
	uint64_t bad = zero_bytes(w) | zero_bytes(~w);

	/* 0x00 -> 0x5a, 0xff -> 0xa5 */
	return w ^ (bad >> 1 | bad >> 3 | bad >> 4 | bad >> 6);
}

static inline uint64_t canary_word(const struct gmod_canary *c, uint64_t index)
{
	return avoid_extremes(sip_of_word(c->key, index));
}

void gmod_canary_init(struct gmod_canary *c, const uint64_t key[2], uint64_t user, uint64_t size, uint64_t serial,
		      enum gmod_side side, uint64_t origin)
{
	uint64_t message[5] = {user, size, serial, (uint64_t)side, 0};

	c->key[0] = gmod_siphash24(key, message, sizeof(message));
	message[4] = 1;
	c->key[1] = gmod_siphash24(key, message, sizeof(message));
	c->origin = origin & ~(uint64_t)7;
}

enum { BLOCK = 64 }; /* words made at a time */

static void make_words(const struct gmod_canary *c, uint64_t first, size_t count, uint64_t *words)
{
	for (size_t i = 0; i < count; i++)
		words[i] = canary_word(c, first + i);
}

/*
 * The next run of canary bytes: fills words[] with the words that cover [at, to), at most BLOCK of them, points
 * *bytes at the byte for `at` and returns how many bytes there are.
 */
static size_t next_run(const struct gmod_canary *c, uint64_t at, uint64_t to, uint64_t words[BLOCK],
		       const uint8_t **bytes)
{
	uint64_t index = (at - c->origin) / 8;
	size_t skip = (at - c->origin) % 8;
	size_t size = to - at;

	if (size > BLOCK * 8 - skip)
		size = BLOCK * 8 - skip;
	make_words(c, index, (skip + size + 7) / 8, words);
	*bytes = (const uint8_t *)words + skip;
	return size;
}

void gmod_canary_bytes(const struct gmod_canary *c, uint64_t from, uint64_t to, void *out)
{
	uint64_t words[BLOCK];
	const uint8_t *bytes;

	for (uint64_t at = from; at < to;) {
		size_t size = next_run(c, at, to, words, &bytes);

		memcpy((uint8_t *)out + (at - from), bytes, size);
		at += size;
	}
}

void gmod_canary_write(const struct gmod_canary *c, uint64_t from, uint64_t to)
{
	gmod_canary_bytes(c, from, to, (void *)(uintptr_t)from);
}

static void widen(struct gmod_diff *diff, uint64_t address)
{
	if (!diff->changed || address < diff->first)
		diff->first = address;
	if (!diff->changed || address > diff->last)
		diff->last = address;
	diff->changed++;
}

bool gmod_bytes_compare(const uint8_t *expected, uint64_t from, uint64_t to, const void *bytes, struct gmod_diff *diff)
{
	const uint8_t *found = bytes;

	if (!memcmp(expected, found, to - from))
		return true;
	for (uint64_t i = 0; i < to - from; i++)
		if (expected[i] != found[i])
			widen(diff, from + i);
	return false;
}

bool gmod_canary_compare(const struct gmod_canary *c, uint64_t from, uint64_t to, const void *bytes,
			 struct gmod_diff *diff)
{
	uint64_t words[BLOCK];
	const uint8_t *expected;
	bool intact = true;

	for (uint64_t at = from; at < to;) {
		size_t size = next_run(c, at, to, words, &expected);

		intact &= gmod_bytes_compare(expected, at, at + size, (const uint8_t *)bytes + (at - from), diff);
		at += size;
	}
	return intact;
}
