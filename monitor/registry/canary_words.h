/*
 * The function that makes canary words, as monitor/registry/canary.h describes them. monitor/registry/canary.c includes
 *this once for each way:
 *
 *	WORDS_NAME	the function's name
 *	WORDS_TARGET	its attribute, for CPUs that have more than every x86-64
 *	WORDS_TYPE	gmod_u64, or a vector of them that fits such a CPU's registers
 *
 * It calls no functions that take vectors: gcc splits vectors by what the function around them is compiled for, and
 * only then inlines it into one that could have kept them whole. Two of WORDS_TYPE are worked on at a time, x and y: in
 * SipHash each operation waits for the one before, and so the CPU has something else to do meanwhile.
 */
#define ROUNDS(n) \
	for (int r = 0; r < (n); r++) { \
		GMOD_SIP_ROUND(&x); \
		GMOD_SIP_ROUND(&y); \
	}

/* 0x80 in every byte of w that is zero; exact, no carries between bytes. */
#define LOW7 0x7f7f7f7f7f7f7f7full
#define ZERO_BYTES(w) (~(((LOW7 & (w)) + LOW7) | (w) | LOW7))
#define EXTREMES(w) (ZERO_BYTES(w) | ZERO_BYTES(~(w)))

// NOLINTNEXTLINE(readability-function-size): the rounds are macros
WORDS_TARGET static void WORDS_NAME(const struct gmod_canary *c, gmod_u64 first, size_t count, uint64_t *words)
{
	enum { N = sizeof(WORDS_TYPE) / 8 };
	static const gmod_u64 numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	const struct gmod_sip start = gmod_sip_start(c->key[0], c->key[1]);
	const WORDS_TYPE none = {0}, size = none + (8ull << 56);
	WORDS_TYPE number, i, j, bad;

	memcpy(&number, numbers, sizeof(number));
	for (size_t done = 0; done < count; done += N + N) {
		struct {
			WORDS_TYPE a, b, c, d;
		} x = {none + start.a, none + start.b, none + start.c, none + start.d}, y = x;

		/* SipHash-2-4 of the 8 bytes of each index. */
		i = number + (first + done);
		j = i + N;
		x.d ^= i;
		y.d ^= j;
		ROUNDS(2)
		x.a ^= i;
		y.a ^= j;
		x.d ^= size;
		y.d ^= size;
		ROUNDS(2)
		x.a ^= size;
		y.a ^= size;
		x.c ^= 0xff;
		y.c ^= 0xff;
		ROUNDS(4)
		i = x.a ^ x.b ^ x.c ^ x.d;
		j = y.a ^ y.b ^ y.c ^ y.d;
		/* 0x00 -> 0x5a, 0xff -> 0xa5 */
		bad = EXTREMES(i);
		i ^= bad >> 1 | bad >> 3 | bad >> 4 | bad >> 6;
		bad = EXTREMES(j);
		j ^= bad >> 1 | bad >> 3 | bad >> 4 | bad >> 6;
		memcpy(words + done, &i, sizeof(i));
		memcpy(words + done + N, &j, sizeof(j));
	}
}

#undef WORDS_NAME
#undef WORDS_TARGET
#undef WORDS_TYPE
