/* How much of a device heap there is to be had, and what it says about that. */

#include "tests/unit/device_heap.h"

/* The last word of the sets has bits that no chunk has. */
enum { CHUNKS = 60, BITS = 64, GUARDS = 2, THREADS = 4, ROUNDS = 40, EACH = 8 };

HEAP_FIXTURES(CHUNKS, GUARDS)

/* Each thread holds its share of half the heap. */
static void fill_and_free(struct test_thread *t)
{
	uint8_t *held[EACH];

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < EACH; i++) {
			held[i] = gmod_heap_malloc(40000, 16);
			CHECK(held[i], "round %d, buffer %d", round, i);
			memset(held[i], (int)t->number, 40000);
		}
		for (int i = 0; i < EACH; i++) {
			assert_int_equal(held[i][0], t->number);
			assert_int_equal(held[i][39999], t->number);
			gmod_heap_free(held[i]);
		}
	}
}

TEST_FIXTURE(nobody_goes_without, make, drop)
{
	run_threads(&heap, THREADS, fill_and_free);
	guard_pass(&heap);
	assert_int_equal(heap.state->failed, 0);
	assert_int_equal(heap.state->used, 0);
	assert_int_equal(free_chunks(), CHUNKS);
	assert_int_equal(heap.state->live, 0);
	assert_true(heap.state->peak >= EACH);
}

/* Most of it in one piece. */
static void one_large(struct test_thread *t)
{
	void *p = gmod_heap_malloc((size_t)50 * GMOD_CHUNK_SIZE, 16);

	(void)t;
	assert_non_null(p);
	assert_null(gmod_heap_malloc((size_t)CHUNKS * GMOD_CHUNK_SIZE, 16));
	gmod_heap_free(p);
}

TEST_FIXTURE(one_piece_can_be_asked_for, make, drop)
{
	run_threads(&heap, 1, one_large);
	assert_true(heap.state->peak >= 50);
	assert_int_equal(heap.state->used, 0);
	assert_int_equal(free_chunks(), CHUNKS);
}

static uint32_t count_until_none(uint64_t size)
{
	uint32_t n = 0;

	while (gmod_heap_malloc(size, 16))
		n++;
	return n;
}

/* What is not there is said soon, as nothing is kept back. On a busy machine some tries take their time. */
TEST_FIXTURE(all_of_it_is_had, make, drop)
{
	enum { TRIES = 20 };
	uint64_t shortest = UINT64_MAX;

	assert_int_equal(count_until_none(60000), CHUNKS);
	for (int i = 0; i < TRIES; i++) {
		uint64_t began = gmod_clock(), took;

		assert_null(gmod_heap_malloc(60000, 16));
		assert_null(gmod_heap_malloc(100, 16));
		took = gmod_clock() - began;
		shortest = took < shortest ? took : shortest;
	}
	assert_true(shortest < GMOD_GUARD_NS / 2);
	assert_int_equal(heap.state->failed, 1 + 2 * TRIES);
}

/* One of those that have the chunks may be about to list its blocks. */
TEST_FIXTURE(a_chunk_that_is_being_made_is_awaited, make, drop)
{
	struct gmod_want w;

	assert_int_equal(count_until_none(60000), CHUNKS);
	gmod_want_make(&w, 100, 16);
	assert_int_equal(gmod_want_wait(&w), GMOD_STEP_TRY);
	/* However long other processes have the device. */
	w.looked -= 1000 * GMOD_MAKE_NS;
	assert_int_equal(gmod_want_wait(&w), GMOD_STEP_TRY);
	w.looked -= GMOD_MAKE_NS;
	assert_int_equal(gmod_want_wait(&w), GMOD_STEP_FAILED);
}

/* Sets that a program has written over name chunks that there are not. */
TEST_FIXTURE(what_is_not_there_is_not_touched, make, drop)
{
	for (uint32_t c = CHUNKS; c < BITS; c++)
		gmod_set_add(GMOD_SET_FREE, c);
	heap.state->used = 0u - (BITS - CHUNKS);
	assert_int_equal(count_until_none(100), CHUNKS * gmod_class_blocks(gmod_class_of(124)));
	assert_int_equal(count_until_none(60000), 0);
	/* The sets lie behind the chunk table. */
	assert_int_equal(set_count(0), 0);
}

TEST_FIXTURE(the_numbers_are_right, make, drop)
{
	void *p = gmod_heap_malloc(1000, 16), *q = gmod_heap_malloc(24, 16);

	assert_int_equal(heap.state->live, 0);
	guard_pass(&heap);
	assert_int_equal(heap.state->live, 2);
	assert_int_equal(heap.state->live_bytes, 1024);
	gmod_heap_free(p);
	guard_pass(&heap);
	assert_int_equal(heap.state->live, 1);
	assert_int_equal(heap.state->live_bytes, 24);
	gmod_heap_free(q);
	guard_pass(&heap);
	assert_int_equal(heap.state->live, 0);
	assert_int_equal(heap.state->live_peak, 2);
	assert_int_equal(heap.state->live_bytes_peak, 1024);
	assert_int_equal(released(&heap), 2);
	assert_int_equal(free_chunks(), CHUNKS - heap.state->used);
}
