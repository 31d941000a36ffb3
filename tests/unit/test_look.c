/* What a look says of a copy that is on its way: every byte is the complement of the canary until it has come. */
#include <string.h>

#include "lib/buffers/look.h"
#include "tests/unit/test.h"

static struct gmod_canary canary;
static uint8_t came[GMOD_LOOK_BYTES], bytes[GMOD_LOOK_BYTES];
static struct gmod_diff diff;
static struct gmod_range what;

/* The first so many bytes of the copy are there. */
static void arrived(size_t size, size_t there)
{
	const uint64_t key[2] = {1, 2};

	gmod_canary_init(&canary, key, 4096, 100, 1, GMOD_TAIL, 4196);
	what = (struct gmod_range){4196, 4196 + size};
	gmod_canary_bytes(&canary, what.from, what.to, came);
	for (size_t i = there; i < size; i++)
		came[i] = (uint8_t)~came[i];
}

static enum gmod_look_answer answer(void)
{
	return gmod_look_answer(&canary, what, came, bytes, &diff);
}

TEST(what_has_not_come_comes)
{
	static const size_t sizes[] = {4, 7, 8, 64, 100, 128};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		arrived(sizes[i], 0);
		assert_int_equal(answer(), GMOD_LOOK_COMES);
		arrived(sizes[i], sizes[i]);
		assert_int_equal(answer(), GMOD_LOOK_INTACT);
	}
}

TEST(a_copy_that_stops_in_the_middle_comes)
{
	arrived(128, 96);
	assert_int_equal(answer(), GMOD_LOOK_COMES);
	arrived(128, 120);
	assert_int_equal(answer(), GMOD_LOOK_COMES);
	/* Some of it has been changed; the rest decides later whether that is all. */
	arrived(128, 64);
	came[3] ^= 0x10;
	assert_int_equal(answer(), GMOD_LOOK_COMES);
}

TEST(what_has_come_and_differs_is_changed)
{
	arrived(128, 128);
	came[17] ^= 0x10;
	assert_int_equal(answer(), GMOD_LOOK_CHANGED);
	assert_int_equal(diff.first, 4196 + 17);
	assert_int_equal(diff.changed, 1);
	assert_int_equal(bytes[17], came[17]);
	/* A store may happen to be the complement, but hardly 8 bytes of a key that nobody knows. */
	arrived(128, 128);
	for (int i = 40; i < 47; i++)
		came[i] = (uint8_t)~came[i];
	assert_int_equal(answer(), GMOD_LOOK_CHANGED);
	arrived(4, 4);
	came[0] = (uint8_t)~came[0];
	assert_int_equal(answer(), GMOD_LOOK_CHANGED);
}
