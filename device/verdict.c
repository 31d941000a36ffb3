#include "device/verdict.h"

#include "include/gmod/device_buffer.h"

/* What came along: stretches of whole words, one behind the other. */
struct stretch {
	int64_t from, to;   /* offsets from the user's first byte that are to hold the pattern */
	int64_t words_from; /* of the first word that came along */
	unsigned word, words;
	uint64_t pattern;
	enum gmod_class class;
};

static uint64_t pattern(const uint64_t key[2], const struct gmod_device_finding *f, unsigned which)
{
	return gmod_pattern_of((const gmod_u64 *)key, f->user, f->word & GMOD_ENTRY_WHAT, which);
}

/* Head, tail and fill; how many words they are altogether. f: with numbers that can be true. */
static unsigned lay_out(const uint64_t key[2], const struct gmod_device_finding *f, struct stretch s[3])
{
	int64_t size = (int64_t)gmod_entry_size(f->word), end = (int64_t)(f->end - f->user), tail = size & ~7;
	int64_t fill = gmod_entry_state_of(f->word) < GMOD_ENTRY_FREED ? 0
		       : size < GMOD_FILL_MAX                          ? size
								       : GMOD_FILL_MAX;

	s[0] = (struct stretch){
	    -GMOD_HEAD_SIZE,           0, -GMOD_HEAD_SIZE, 0, GMOD_HEAD_SIZE / 8, pattern(key, f, GMOD_PATTERN_HEAD),
	    GMOD_HEAP_BUFFER_UNDERFLOW};
	s[1] = (struct stretch){size,
				end,
				tail,
				s[0].words,
				end > tail ? (unsigned)(end - tail) / 8 : 0,
				pattern(key, f, GMOD_PATTERN_TAIL),
				GMOD_HEAP_BUFFER_OVERFLOW};
	s[2] = (struct stretch){0,
				fill,
				0,
				s[1].word + s[1].words,
				(unsigned)(fill + 7) / 8,
				pattern(key, f, GMOD_PATTERN_FILL),
				GMOD_USE_AFTER_FREE};
	return s[2].word + s[2].words;
}

/* Numbers that can be true: what is computed of them stays small. */
static bool is_plausible(const struct gmod_device_finding *f)
{
	uint64_t last = f->user + gmod_entry_size(f->word);

	return f->class_ == GMOD_DEVICE_CORRUPT && f->user % 16 == 0 && f->end % 8 == 0 && f->end >= (last & ~7ull) &&
	       f->end - (last & ~7ull) <= GMOD_TAIL_MAX + 8 && gmod_entry_state_of(f->word) >= GMOD_ENTRY_LIVE &&
	       gmod_entry_state_of(f->word) <= GMOD_ENTRY_DEAD;
}

bool gmod_device_finding_is_sane(const uint64_t key[2], const struct gmod_device_finding *f)
{
	struct stretch s[3];
	unsigned words = is_plausible(f) ? lay_out(key, f, s) : 0;

	return f->class_ <= GMOD_DEVICE_INVALID_FREE && (f->class_ != GMOD_DEVICE_CORRUPT || words) &&
	       words <= GMOD_FINDING_WORDS && f->seal == gmod_finding_seal((const gmod_u64 *)key, f, words);
}

/* The low bytes of a buffer's second word say since when it is kept back. */
static bool is_stamp(const struct gmod_device_finding *f, int64_t at)
{
	return gmod_entry_state_of(f->word) == GMOD_ENTRY_FREED && (at == -8 || at == -7);
}

static uint8_t expected_at(const struct stretch *s, int64_t at)
{
	return (uint8_t)(s->pattern >> 8 * (at & 7));
}

static uint8_t observed_at(const struct gmod_device_finding *f, const struct stretch *s, int64_t at)
{
	int64_t byte = at - s->words_from;

	return (uint8_t)(f->words[s->word + (unsigned)byte / 8] >> 8 * (byte & 7));
}

/* The bytes of one stretch that are not what they should be; false: there are none. */
static bool compare(const struct gmod_device_finding *f, const struct stretch *s, struct gmod_verdict *out)
{
	for (int64_t at = s->from; at < s->to; at++) {
		if (observed_at(f, s, at) == expected_at(s, at) || is_stamp(f, at))
			continue;
		if (!out->changed++)
			out->first = at;
		out->last = at;
	}
	for (int64_t at = out->first; out->changed && at <= out->last && out->count < GMOD_OBSERVED_MAX; at++) {
		out->observed[out->count] = observed_at(f, s, at);
		out->expected[out->count++] = expected_at(s, at);
	}
	out->class = s->class;
	return out->changed != 0;
}

bool gmod_device_judge(const uint64_t key[2], const struct gmod_device_finding *f, struct gmod_verdict *out)
{
	struct stretch s[3];

	*out = (struct gmod_verdict){.size = gmod_entry_size(f->word)};
	if (!is_plausible(f))
		return false;
	lay_out(key, f, s);
	return compare(f, &s[0], out) || compare(f, &s[1], out) || compare(f, &s[2], out);
}
