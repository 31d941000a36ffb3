/* mallocN and freeN on the CPU, by many threads at once, with the guard beside them. */
#include "tests/unit/device_heap.h"

enum { CHUNKS = 64, GUARDS = 4 };

static struct test_finding finding[8];

HEAP_FIXTURES(CHUNKS, GUARDS)

#define ON_HEAP(test) TEST_FIXTURE(test, make, drop)

enum { THREADS = 8, HELD = 100, ROUNDS = 20000 };
static atomic_int done_threads;

static void churn(struct test_thread *t)
{
	uint8_t *held[HELD] = {0};
	uint64_t size[HELD] = {0};

	for (int i = 0; i < ROUNDS; i++) {
		uint32_t at = (uint32_t)random_below(&t->seed, HELD);

		if (!held[at]) {
			size[at] = random_below(&t->seed, random_below(&t->seed, 50) ? 300 : 70000);
			held[at] = gmod_heap_malloc(size[at], 16);
			if (held[at])
				memset(held[at], (int)t->number, size[at]);
			continue;
		}
		for (uint64_t k = 0; k < size[at]; k += 5)
			assert_int_equal(held[at][k], t->number);
		gmod_heap_free(held[at]);
		held[at] = NULL;
	}
	for (int i = 0; i < HELD; i++)
		if (held[i])
			gmod_heap_free(held[i]);
}

static void guard_and_churn(struct test_thread *t)
{
	if (t->number) {
		churn(t);
		atomic_fetch_add(&done_threads, 1);
		return;
	}
	while (atomic_load(&done_threads) < THREADS - 1)
		guard_pass(t->heap);
}

static void churn_beside_the_guard(void)
{
	atomic_store(&done_threads, 0);
	run_threads(&heap, THREADS, guard_and_churn);
	heap.state->pressing = heap.state->pass + 1;
	guard_pass(&heap);
	guard_pass(&heap);
	assert_int_equal(heap.state->live, 0);
	assert_int_equal(heap.state->held, 0);
	assert_true(released(&heap) > 0);
	assert_int_equal(take_findings(&heap, finding, 8), 0);
	assert_int_equal(heap.state->findings, 0);
	assert_int_equal(heap.state->damaged, 0);
}

ON_HEAP(nothing_is_lost_between_threads)
{
	churn_beside_the_guard();
}

ON_HEAP(nothing_is_lost_where_buffers_wait)
{
	gmod_unit_heap.delay = 2;
	churn_beside_the_guard();
}

/* One buffer, freed by all threads at once: one of them frees it, all the others are reported. */
static void *shared_buffer;
static pthread_barrier_t together;

static void free_the_same(struct test_thread *t)
{
	for (int i = 0; i < 500; i++) {
		if (!t->number)
			shared_buffer = gmod_heap_malloc(100, 16);
		pthread_barrier_wait(&together);
		gmod_heap_free(shared_buffer);
		pthread_barrier_wait(&together);
		if (t->number)
			continue;
		CHECK(take_findings(t->heap, finding, 8) == THREADS - 1, "round %d", i);
		for (int k = 0; k < THREADS - 1; k++)
			CHECK(finding[k].said.class_ == GMOD_DEVICE_DOUBLE_FREE &&
				  finding[k].said.user == (uint64_t)(uintptr_t)shared_buffer,
			      "round %d, class %llu", i, finding[k].said.class_);
		CHECK(released(t->heap) == (uint64_t)i + 1, "round %d", i);
	}
}

ON_HEAP(one_of_many_frees_wins)
{
	pthread_barrier_init(&together, NULL, THREADS);
	run_threads(&heap, THREADS, free_the_same);
	assert_int_equal(take_findings(&heap, finding, 8), 0);
}
