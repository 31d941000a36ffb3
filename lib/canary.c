#include "lib/canary.h"

#include <string.h>

struct sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotl(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotl(s->v1, 13) ^ s->v0;
	s->v3 = rotl(s->v3, 16) ^ s->v2;
	s->v0 = rotl(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = rotl(s->v1, 17) ^ s->v2;
	s->v3 = rotl(s->v3, 21) ^ s->v0;
	s->v2 = rotl(s->v2, 32);
}

static inline struct sip sip_start(const uint64_t key[2])
{
	return (struct sip){key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
			    key[1] ^ 0x7465646279746573u};
}

static inline void sip_absorb(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_round(s);
	sip_round(s);
	s->v0 ^= word;
}

static inline uint64_t sip_finish(struct sip *s)
{
	s->v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

uint64_t gmod_siphash24(const uint64_t key[2], const void *data, size_t size)
{
	struct sip s = sip_start(key);
	const uint8_t *p = data;
	uint64_t word;
	size_t left = size;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		sip_absorb(&s, word);
	}
	word = 0;
	memcpy(&word, p, left);
	sip_absorb(&s, word | (uint64_t)size << 56);
	return sip_finish(&s);
}

/* SipHash-2-4 of one 8-byte word, unrolled so that a loop over it vectorises. */
static inline uint64_t sip_of_word(const uint64_t key[2], uint64_t word)
{
	struct sip s = sip_start(key);

	sip_absorb(&s, word);
	sip_absorb(&s, (uint64_t)8 << 56);
	return sip_finish(&s);
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
