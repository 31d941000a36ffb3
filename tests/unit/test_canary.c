/*
 * Canaries: the function behind them, that no two words are alike, and that no changed byte goes unseen.
 *
 * Run with --words it prints some words under a fresh key, for a comparison of two runs.
 */
#include "monitor/registry/canary.h"
#include "monitor/registry/sip.h"

#include "lib/base/phase.h"
#include "tests/unit/support.h"

enum { ZONE = 4096 };

static const uint64_t fixed_key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

/* SipHash-2-4 of 0, 1, 2 ... 63 bytes 00 01 02 ... under the key 00 01 .. 0f: the vectors its authors published. */
static const uint64_t published[64] = {
    0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au, 0x85676696d7fb7e2du, 0xcf2794e0277187b7u,
    0x18765564cd99a68du, 0xcbc9466e58fee3ceu, 0xab0200f58b01d137u, 0x93f5f5799a932462u, 0x9e0082df0ba9e4b0u,
    0x7a5dbbc594ddb9f3u, 0xf4b32f46226bada7u, 0x751e8fbc860ee5fbu, 0x14ea5627c0843d90u, 0xf723ca908e7af2eeu,
    0xa129ca6149be45e5u, 0x3f2acc7f57c29bdbu, 0x699ae9f52cbe4794u, 0x4bc1b3f0968dd39cu, 0xbb6dc91da77961bdu,
    0xbed65cf21aa2ee98u, 0xd0f2cbb02e3b67c7u, 0x93536795e3a33e88u, 0xa80c038ccd5ccec8u, 0xb8ad50c6f649af94u,
    0xbce192de8a85b8eau, 0x17d835b85bbb15f3u, 0x2f2e6163076bcfadu, 0xde4daaaca71dc9a5u, 0xa6a2506687956571u,
    0xad87a3535c49ef28u, 0x32d892fad841c342u, 0x7127512f72f27cceu, 0xa7f32346f95978e3u, 0x12e0b01abb051238u,
    0x15e034d40fa197aeu, 0x314dffbe0815a3b4u, 0x027990f029623981u, 0xcadcd4e59ef40c4du, 0x9abfd8766a33735cu,
    0x0e3ea96b5304a7d0u, 0xad0c42d6fc585992u, 0x187306c89bc215a9u, 0xd4a60abcf3792b95u, 0xf935451de4f21df2u,
    0xa9538f0419755787u, 0xdb9acddff56ca510u, 0xd06c98cd5c0975ebu, 0xe612a3cb9ecba951u, 0xc766e62cfcadaf96u,
    0xee64435a9752fe72u, 0xa192d576b245165au, 0x0a8787bf8ecb74b2u, 0x81b3e73d20b49b6fu, 0x7fa8220ba3b2eceau,
    0x245731c13ca42499u, 0xb78dbfaf3a8d83bdu, 0xea1ad565322a1a0bu, 0x60e61c23a3795013u, 0x6606d7e446282b93u,
    0x6ca4ecb15c5f91e1u, 0x9f626da15c9625f3u, 0xe51b38608ef25f57u, 0x958a324ceb064572u,
};

static uint64_t siphash(const uint64_t key[2], const void *data, size_t size)
{
	struct gmod_sip s = gmod_sip_start(key[0], key[1]);
	uint64_t word = 0, left = size;
	const uint8_t *p = data;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		gmod_sip_absorb(&s, word);
	}
	word = 0;
	memcpy(&word, p, left);
	gmod_sip_absorb(&s, word | (uint64_t)size << 56);
	return gmod_sip_finish(&s);
}

TEST(the_hash_is_siphash_2_4)
{
	uint8_t message[64];

	for (unsigned i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)i;
	for (size_t n = 0; n < 64; n++)
		CHECK(siphash(fixed_key, message, n) == published[n], "%zu bytes", n);
	assert_int_equal(gmod_sip_of(fixed_key[0], fixed_key[1], 1, 2, 3, 4, 5),
			 siphash(fixed_key, (uint64_t[]){1, 2, 3, 4, 5}, 40));
}

/* A word as monitor/registry/canary.h describes it: SipHash-2-4 of the index under the side's key, without 0x00 and
 * 0xff. */
static uint64_t word_by_hand(const struct gmod_canary *c, uint64_t index)
{
	uint64_t word = siphash(c->key, &index, sizeof(index));
	uint8_t bytes[8];

	memcpy(bytes, &word, 8);
	for (int i = 0; i < 8; i++)
		bytes[i] = bytes[i] == 0 ? 0x5a : bytes[i] == 0xff ? 0xa5 : bytes[i];
	memcpy(&word, bytes, 8);
	return word;
}

TEST(words_are_the_keyed_hash_of_their_index)
{
	static uint64_t zone[4 * ZONE / 8];
	struct gmod_canary c;

	gmod_canary_init(&c, fixed_key, 0x7f0000001200, 3584, 5, GMOD_TAIL, 0x7f0000002003);
	assert_int_equal(c.origin, 0x7f0000002000);
	gmod_canary_bytes(&c, c.origin, c.origin + sizeof(zone), zone);
	for (uint64_t i = 0; i < sizeof(zone) / 8; i++)
		CHECK(zone[i] == word_by_hand(&c, i), "word %lu", i);
}

static bool cpu_can(enum gmod_way way)
{
#if defined(__x86_64__)
	if (way == GMOD_AVX2)
		return __builtin_cpu_supports("avx2");
	if (way == GMOD_AVX512)
		return __builtin_cpu_supports("avx512f");
#endif
	return way == GMOD_PLAIN;
}

/* Some words, at any place: right as far as they were asked for, and none beyond what may be overwritten. */
static void check_words(enum gmod_way way, uint64_t first, size_t count, size_t place)
{
	enum { MOST = 80, AROUND = 8 };
	const uint64_t outside = 0x1122334455667788;
	_Alignas(64) uint64_t room[AROUND + MOST + AROUND];
	size_t multiple = GMOD_WORDS_MULTIPLE, end = place + (count + multiple - 1) / multiple * multiple;
	struct gmod_canary c;

	gmod_canary_init(&c, fixed_key, first, count, place, GMOD_HEAD, 0);
	for (size_t i = 0; i < SIZE_OF(room); i++)
		room[i] = outside;
	gmod_canary_words(way, &c, first, count, room + place);
	for (size_t i = 0; i < SIZE_OF(room); i++)
		if (i < place || i >= end)
			CHECK(room[i] == outside, "way %d, %zu words: %zu behind", way, count, i - place);
		else if (i < place + count)
			CHECK(room[i] == word_by_hand(&c, first + (i - place)), "way %d, word %#lx + %zu of %zu", way,
			      first, i - place, count);
}

TEST(all_ways_make_the_same_words)
{
	uint64_t seed = 7;

	assert_true(cpu_can(gmod_canary_way()));
	for (enum gmod_way way = GMOD_PLAIN; way <= GMOD_AVX512; way++) {
		if (!cpu_can(way))
			continue;
		for (size_t count = 0; count <= 80; count++)
			for (size_t place = 0; place < 8; place++) {
				check_words(way, 0, count, place);
				check_words(way, random64(&seed), count, place);
				/* Across what 32 bits and 64 bits can count. */
				check_words(way, 0xffffffff - count / 2, count, place);
				check_words(way, UINT64_MAX - count / 2, count, place);
			}
	}
}

TEST(no_byte_is_what_a_stray_store_writes)
{
	static uint8_t zone[256 * ZONE];
	uint64_t seen[256] = {0};
	struct gmod_canary c;

	gmod_canary_init(&c, fixed_key, 4096, sizeof(zone), 1, GMOD_HEAD, 8);
	gmod_canary_bytes(&c, 8, 8 + sizeof(zone), zone);
	for (size_t i = 0; i < sizeof(zone); i++)
		seen[zone[i]]++;
	assert_int_equal(seen[0x00], 0);
	assert_int_equal(seen[0xff], 0);
	/* The rest as often as chance has it, the two stand-ins twice as often. */
	for (int i = 1; i < 255; i++)
		CHECK(seen[i] > sizeof(zone) / 256 * 9 / 10 &&
			  seen[i] < sizeof(zone) / 256 * (i == 0x5a || i == 0xa5 ? 22 : 11) / 10,
		      "%#x: %lu times", (unsigned)i, seen[i]);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Buffers at the same place or not, of the same size or not; both sides; several words of each. */
TEST(no_two_words_are_alike)
{
	enum { BUFFERS = 10000, WORDS = 24 };
	uint64_t *all = malloc(sizeof(*all) * BUFFERS * 2 * WORDS);
	size_t n = 0;

	for (uint64_t i = 0; i < BUFFERS; i++)
		for (int side = GMOD_HEAD; side <= GMOD_TAIL; side++) {
			struct gmod_canary c;

			gmod_canary_init(&c, fixed_key, 0x7f0000000000 + i % 16 * 8192, 64 + i / 16 % 8, i / 128,
					 (enum gmod_side)side, 0x1000);
			gmod_canary_bytes(&c, 0x1000, 0x1000 + WORDS * 8, &all[n]);
			n += WORDS;
		}
	qsort(all, n, sizeof(*all), by_value);
	for (size_t i = 1; i < n; i++)
		CHECK(all[i] != all[i - 1], "%#lx comes twice", all[i]);
	free(all);
}

/* What goes into a buffer's words, beside the side. */
enum { KEY, SECOND_KEY, ADDRESS, SIZE, SERIAL, INPUTS };

static void first_words(const uint64_t in[INPUTS], enum gmod_side side, uint64_t out[4])
{
	struct gmod_canary c;

	gmod_canary_init(&c, &in[KEY], in[ADDRESS], in[SIZE], in[SERIAL], side, 64);
	gmod_canary_bytes(&c, 64, 96, out);
}

static void check_differ(const uint64_t a[4], const uint64_t b[4], const char *input, int bit)
{
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			CHECK(a[i] != b[k], "%s, bit %d: words %d and %d", input, bit, i, k);
}

/* Nothing of what goes in is left out: each bit of it changes every word. */
TEST(every_input_counts)
{
	static const char *const names[] = {"key, first half", "key, second half", "address", "size", "serial"};
	uint64_t in[INPUTS] = {fixed_key[0], fixed_key[1], 0x7f0000000000, 4000, 17}, base[4], other[4];

	first_words(in, GMOD_HEAD, base);
	first_words(in, GMOD_TAIL, other);
	check_differ(base, other, "side", 0);
	for (int input = 0; input < INPUTS; input++)
		for (int i = 0; i < 64; i++) {
			in[input] ^= (uint64_t)1 << i;
			first_words(in, GMOD_HEAD, other);
			check_differ(base, other, names[input], i);
			in[input] ^= (uint64_t)1 << i;
		}
	/* Values exchanged between inputs are not the same input. */
	in[ADDRESS] = 4000;
	in[SIZE] = 0x7f0000000000;
	first_words(in, GMOD_HEAD, other);
	check_differ(base, other, "address and size exchanged", 0);
}

static int print_words(__attribute__((unused)) char **argv)
{
	uint64_t in[INPUTS] = {[ADDRESS] = 4096, [SIZE] = 100, [SERIAL] = 1}, words[4];

	if (!gmod_phase_arm())
		return 1;
	memcpy(&in[KEY], gmod_hot.key, sizeof(gmod_hot.key));
	first_words(in, GMOD_TAIL, words);
	printf("%016lx %016lx %016lx %016lx\n", words[0], words[1], words[2], words[3]);
	return 0;
}

static void words_of_a_run(char out[80])
{
	char command[4200];
	FILE *f;

	snprintf(command, sizeof(command), "'%s' --words", program);
	f = popen(command, "r"); // NOLINT: our own program
	assert_non_null(f);
	assert_non_null(fgets(out, 80, f));
	assert_int_equal(pclose(f), 0);
	assert_int_equal(strlen(out), 4 * 17);
}

TEST(every_run_has_words_of_its_own)
{
	char one[80], two[80];

	words_of_a_run(one);
	words_of_a_run(two);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			assert_memory_not_equal(one + (ptrdiff_t)17 * i, two + (ptrdiff_t)17 * k, 16);
}

/* ---- ranges ---- */

static struct gmod_canary some_canary(uint64_t serial, uint64_t origin)
{
	struct gmod_canary c;

	gmod_canary_init(&c, fixed_key, origin + ZONE, 100, serial, GMOD_HEAD, origin);
	return c;
}

/* The words are made some at a time, and a range may begin and end anywhere. */
TEST(any_range_is_a_part_of_the_whole)
{
	static uint8_t whole[ZONE], part[ZONE + 2];
	struct gmod_canary c = some_canary(1, 0x5000);
	uint64_t seed = 3;

	gmod_canary_bytes(&c, 0x5000, 0x5000 + ZONE, whole);
	for (int i = 0; i < 60000; i++) {
		size_t from = (size_t)random_below(&seed, i % 2 ? 1100 : ZONE);
		size_t to = from + (size_t)random_below(&seed, i % 3 ? 1100 : 20);

		if (to > ZONE)
			to = ZONE;
		part[0] = 0x11;
		part[to - from + 1] = 0x22;
		gmod_canary_bytes(&c, 0x5000 + from, 0x5000 + to, part + 1);
		CHECK(!memcmp(part + 1, whole + from, to - from), "[%zu, %zu)", from, to);
		CHECK(part[0] == 0x11 && part[to - from + 1] == 0x22, "[%zu, %zu)", from, to);
	}
}

TEST(writing_and_comparing_agree)
{
	static _Alignas(64) uint8_t memory[ZONE];
	uint64_t start = (uint64_t)(uintptr_t)memory, seed = 5;

	for (int i = 0; i < 20000; i++) {
		struct gmod_canary c = some_canary((uint64_t)i, start);
		size_t from = (size_t)random_below(&seed, 700), size = (size_t)random_below(&seed, 700),
		       to = from + size;
		struct gmod_diff diff = {0};
		uint8_t expected[700];

		memset(memory, 0, to + 8);
		gmod_canary_bytes(&c, start + from, start + to, (void *)(start + from));
		CHECK(gmod_canary_compare(&c, start + from, start + to, memory + from, &diff), "[%zu, %zu)", from, to);
		CHECK(!diff.changed, "[%zu, %zu)", from, to);
		gmod_canary_bytes(&c, start + from, start + to, expected);
		CHECK(gmod_bytes_compare(expected, start + from, start + to, memory + from, &diff), "[%zu, %zu)", from,
		      to);
		CHECK((from == 0 || !memory[from - 1]) && !memory[to], "[%zu, %zu): written beyond", from, to);
	}
}

/* The bytes of a zone that starts in the middle of a word do not depend on where it starts. */
TEST(a_ragged_origin_is_the_words_origin)
{
	uint8_t whole[64], part[64];

	for (uint64_t off = 0; off < 8; off++) {
		struct gmod_canary c = some_canary(9, 0x6000), d;

		gmod_canary_init(&d, fixed_key, 0x6000 + ZONE, 100, 9, GMOD_HEAD, 0x6000 + off);
		gmod_canary_bytes(&c, 0x6000, 0x6040, whole);
		gmod_canary_bytes(&d, 0x6000 + off, 0x6040, part);
		assert_memory_equal(whole + off, part, 64 - off);
	}
}

/* ---- changes ---- */

/* Every other value of the byte at `at` is seen, and described. */
static void check_byte(const struct gmod_canary *c, uint8_t *zone, uint64_t base, size_t from, size_t to, size_t at)
{
	uint8_t right = zone[at];

	for (unsigned value = 0; value < 256; value++) {
		struct gmod_diff diff = {0};
		bool intact;

		zone[at] = (uint8_t)value;
		intact = gmod_canary_compare(c, base + from, base + to, zone + from, &diff);
		CHECK(intact == (value == right), "value %#x at %zu of [%zu, %zu)", value, at, from, to);
		CHECK(intact ? !diff.changed : diff.changed == 1 && diff.first == base + at && diff.last == base + at,
		      "value %#x at %zu of [%zu, %zu)", value, at, from, to);
	}
	zone[at] = right;
}

TEST(every_change_of_one_byte_is_seen)
{
	enum { BUFFERS = 10000, ROOM = 96 };
	uint8_t zone[ROOM];
	uint64_t seed = 11;

	for (int i = 0; i < BUFFERS; i++) {
		uint64_t base = 0x7f0000000000 + random_below(&seed, (uint64_t)1 << 30) / 8 * 8;
		struct gmod_canary c = some_canary((uint64_t)i, base);
		size_t from = (size_t)random_below(&seed, 16), to = from + 1 + (size_t)random_below(&seed, ROOM - 16);

		gmod_canary_bytes(&c, base, base + ROOM, zone);
		check_byte(&c, zone, base, from, to, from);
		check_byte(&c, zone, base, from, to, from + (size_t)i % (to - from));
		check_byte(&c, zone, base, from, to, to - 1);
	}
}

/* Across the borders of what is made at a time, and at the ends of a whole page. */
TEST(every_position_is_looked_at)
{
	static uint8_t zone[ZONE];
	struct gmod_canary c = some_canary(77, 0x9000);

	gmod_canary_bytes(&c, 0x9000, 0x9000 + ZONE, zone);
	for (size_t at = 0; at < ZONE; at++) {
		struct gmod_diff diff = {0};

		zone[at] ^= (uint8_t)(1u << at % 8);
		CHECK(!gmod_canary_compare(&c, 0x9000, 0x9000 + ZONE, zone, &diff), "position %zu", at);
		CHECK(diff.changed == 1 && diff.first == 0x9000 + at && diff.last == diff.first, "position %zu", at);
		zone[at] ^= (uint8_t)(1u << at % 8);
	}
	for (size_t at = 500; at < 530; at++)
		check_byte(&c, zone, 0x9000, 3, 1061, at);
}

TEST(changes_outside_the_range_are_not_looked_at)
{
	uint8_t zone[256];
	struct gmod_canary c = some_canary(78, 0x9000);

	gmod_canary_bytes(&c, 0x9000, 0x9100, zone);
	for (size_t from = 1; from < 40; from++)
		for (size_t to = from; to < 200; to += 13) {
			struct gmod_diff diff = {0};

			zone[from - 1] ^= 1;
			zone[to] ^= 1;
			CHECK(gmod_canary_compare(&c, 0x9000 + from, 0x9000 + to, zone + from, &diff) && !diff.changed,
			      "[%zu, %zu)", from, to);
			zone[from - 1] ^= 1;
			zone[to] ^= 1;
		}
}

TEST(a_difference_spans_all_that_was_found)
{
	static uint8_t zone[ZONE];
	struct gmod_canary c = some_canary(79, 0x9000);
	struct gmod_diff diff = {0};
	uint8_t expected[ZONE];

	gmod_canary_bytes(&c, 0x9000, 0x9000 + ZONE, zone);
	gmod_canary_bytes(&c, 0x9000, 0x9000 + ZONE, expected);
	zone[700] ^= 0x80;
	zone[1300] ^= 0x01;
	zone[701] ^= 0x10;
	assert_false(gmod_canary_compare(&c, 0x9000, 0x9000 + ZONE, zone, &diff));
	assert_int_equal(diff.first, 0x9000 + 700);
	assert_int_equal(diff.last, 0x9000 + 1300);
	assert_int_equal(diff.changed, 3);
	/* It widens what is there already, to both sides. */
	zone[700] ^= 0x80;
	zone[701] ^= 0x10;
	zone[1300] ^= 0x01;
	zone[2] ^= 4;
	zone[4000] ^= 4;
	assert_false(gmod_bytes_compare(expected, 0x9000, 0x9000 + ZONE, zone, &diff));
	assert_int_equal(diff.first, 0x9002);
	assert_int_equal(diff.last, 0x9000 + 4000);
	assert_int_equal(diff.changed, 5);
}

static int (*main_with_arguments)(char **argv) = print_words;
