/* A device heap that gets its memory as it asks for it, and what it says about how much that is. */

#include "tests/unit/device_heap.h"

enum { FIRST = 4, CHUNKS = 64, GUARDS = 2, THREADS = 4, ROUNDS = 40, EACH = 8 };

static struct test_heap heap;
static atomic_int working;

FIXTURE(make)
{
	heap = heap_make_growing(FIRST, CHUNKS, GUARDS);
	return 0;
}

FIXTURE(drop)
{
	heap_drop(&heap);
	return 0;
}

static void commit(uint32_t chunks, uint32_t limit)
{
	__atomic_store_n(&heap.state->memory, gmod_memory_word(gmod_unit_heap.key, limit, chunks), __ATOMIC_RELEASE);
}

/* The host: gives what is wanted, as soon as it is. */
static void *host(void *unused)
{
	while (atomic_load(&working)) {
		uint64_t wanted = __atomic_load_n(&heap.ring->wanted, __ATOMIC_ACQUIRE);

		assert_true(wanted <= CHUNKS);
		if (wanted > gmod_committed())
			commit((uint32_t)wanted, CHUNKS);
		sched_yield();
	}
	return unused;
}

/* Each thread holds more than its share of what the heap begins with. */
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

static void run_with_host(void (*body)(struct test_thread *), uint32_t threads)
{
	pthread_t id;

	atomic_store(&working, 1);
	id = begin_thread(host, NULL);
	run_threads(&heap, threads, body);
	atomic_store(&working, 0);
	end_thread(id);
}

TEST_FIXTURE(nobody_goes_without, make, drop)
{
	run_with_host(fill_and_free, THREADS);
	guard_pass(&heap);
	assert_int_equal(heap.state->failed, 0);
	assert_true(heap.state->given > FIRST && heap.state->given <= CHUNKS);
	assert_int_equal(heap.state->used, 0);
	assert_int_equal(free_chunks(), heap.state->given);
	assert_int_equal(heap.state->live, 0);
	assert_true(heap.state->peak > FIRST);
}

/* More in one piece than there is, and than twice that. */
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
	run_with_host(one_large, 1);
	assert_true(heap.state->peak >= 50);
	assert_int_equal(heap.state->used, 0);
	assert_int_equal(free_chunks(), heap.state->given);
}

static uint32_t count_until_none(uint64_t size)
{
	uint32_t n = 0;

	while (gmod_heap_malloc(size, 16))
		n++;
	return n;
}

/* A host that does not answer, or says that there is no more, is waited for once and no more. */
TEST_FIXTURE(there_may_be_no_more, make, drop)
{
	assert_int_equal(count_until_none(60000), FIRST);
	assert_int_equal(heap.state->refused, FIRST + 1);
	assert_int_equal(heap.state->failed, 1);
	commit(2 * FIRST, 2 * FIRST);
	assert_int_equal(count_until_none(60000), FIRST);
	assert_int_equal(heap.state->refused, FIRST + 1);
	commit(2 * FIRST, CHUNKS);
	assert_int_equal(count_until_none(60000), 0);
	assert_int_equal(heap.state->refused, 2 * FIRST + 1);
}

/* What the host has said of the memory counts only as long as nobody has written over it. */
TEST_FIXTURE(what_has_no_memory_is_not_touched, make, drop)
{
	heap.state->memory += FIRST;
	assert_int_equal(gmod_committed(), 0);
	assert_null(gmod_heap_malloc(60000, 16));
	commit(FIRST, CHUNKS);
	heap.state->given = CHUNKS;
	for (uint32_t c = FIRST; c < CHUNKS; c++)
		gmod_set_add(GMOD_SET_FREE, c);
	assert_int_equal(count_until_none(60000), FIRST);
	/* and another class of them, by their sets */
	assert_int_equal(count_until_none(100), 0);
}

TEST_FIXTURE(more_is_asked_for_early, make, drop)
{
	assert_int_equal(heap.ring->wanted, 0);
	for (int i = 0; i < 4 && !heap.ring->wanted; i++)
		assert_non_null(gmod_heap_malloc(60000, 16));
	assert_int_equal(heap.ring->wanted, 2 * FIRST);
	assert_true(heap.state->used <= FIRST);
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
	assert_int_equal(free_chunks(), heap.state->given - heap.state->used);
}
