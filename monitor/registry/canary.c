#include "monitor/registry/canary.h"

#include <string.h>

#include "monitor/registry/sip.h"

void gmod_canary_init(struct gmod_canary *c, const uint64_t key[2], uint64_t user, uint64_t size, uint64_t serial,
		      enum gmod_side side, uint64_t origin)
{
	for (unsigned i = 0; i < 2; i++)
		c->key[i] = gmod_sip_of(key[0], key[1], user, size, serial, side, i);
	c->origin = origin & ~(uint64_t)7;
	c->repeats = false;
}

/* ---- words, some at a time ---- */

#define WORDS_NAME plain_words
#define WORDS_TARGET
#define WORDS_TYPE gmod_u64
#include "monitor/registry/canary.def"

#if defined(__x86_64__)

typedef gmod_u64 words_of_avx2 __attribute__((vector_size(32)));
typedef gmod_u64 words_of_avx512 __attribute__((vector_size(64)));

#define WORDS_NAME avx2_words
#define WORDS_TARGET __attribute__((target("avx2")))
#define WORDS_TYPE words_of_avx2
#include "monitor/registry/canary.def"

/* Twice as wide, and rotates in one instruction where AVX2 takes three. */
#define WORDS_NAME avx512_words
#define WORDS_TARGET __attribute__((target("avx512f")))
#define WORDS_TYPE words_of_avx512
#include "monitor/registry/canary.def"

#endif

/* Asked each time: it is a few loads. Until libgcc's constructor has looked at the CPU, the answer is the plain way. */
enum gmod_way gmod_canary_way(void)
{
#if defined(__x86_64__)
	/* CPUs that have AVX-512 without VBMI2 run slower for a while after 512 bits, the program's own work too. */
	if (__builtin_cpu_supports("avx512vbmi2"))
		return GMOD_AVX512;
	if (__builtin_cpu_supports("avx2"))
		return GMOD_AVX2;
#endif
	return GMOD_PLAIN;
}

void gmod_canary_words(enum gmod_way way, const struct gmod_canary *c, uint64_t first, size_t count, uint64_t *words)
{
	switch (way) {
#if defined(__x86_64__)
	case GMOD_AVX512:
		avx512_words(c, first, count, words);
		break;
	case GMOD_AVX2:
		avx2_words(c, first, count, words);
		break;
#endif
	default:
		plain_words(c, first, count, words);
	}
}

/* ---- ranges ---- */

enum { BLOCK = 64 }; /* words made at a time */
_Static_assert(BLOCK % GMOD_WORDS_MULTIPLE == 0, "room for all the words that are made");

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
	if (c->repeats)
		for (size_t i = 0; i < (skip + size + 7) / 8; i++)
			words[i] = c->key[0];
	else
		gmod_canary_words(gmod_canary_way(), c, index, (skip + size + 7) / 8, words);
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

void gmod_canary_place(struct gmod_canary canary[2], const uint64_t key[2], uint64_t serial,
		       const struct gmod_bounds *b, struct gmod_lines *lines, struct gmod_slack *slack)
{
	const struct gmod_canary *head = &canary[GMOD_HEAD], *tail = &canary[GMOD_TAIL];
	uint64_t end = b->user + b->size, tail_from = slack ? b->tail_from : end;

	gmod_canary_init(&canary[GMOD_HEAD], key, b->user, b->size, serial, GMOD_HEAD, b->head_from);
	gmod_canary_init(&canary[GMOD_TAIL], key, b->user, b->size, serial, GMOD_TAIL, end);
	gmod_canary_bytes(head, b->head_from, slack ? b->head_to : b->user, (void *)(uintptr_t)b->head_from);
	gmod_canary_bytes(tail, tail_from, b->tail_to, (void *)(uintptr_t)tail_from);
	gmod_canary_bytes(head, b->head_to - GMOD_LINE, b->head_to, lines->head);
	gmod_canary_bytes(tail, b->tail_from, b->tail_from + GMOD_LINE, lines->tail);
	if (slack) {
		gmod_canary_bytes(head, gmod_whole_slack(b, GMOD_HEAD).from, b->user, slack->head);
		gmod_canary_bytes(tail, end, b->tail_from, slack->tail);
	}
}

bool gmod_bytes_compare(const uint8_t *expected, uint64_t from, uint64_t to, const void *bytes, struct gmod_diff *diff)
{
	const uint8_t *found = bytes;

	if (!memcmp(expected, found, to - from))
		return true;
	for (uint64_t i = 0; i < to - from; i++) {
		if (expected[i] == found[i])
			continue;
		if (!diff->changed || from + i < diff->first)
			diff->first = from + i;
		if (!diff->changed || from + i > diff->last)
			diff->last = from + i;
		diff->changed++;
	}
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
