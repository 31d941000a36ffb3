/* mallocN and freeN on the CPU: what the guard sees, says and releases. */

#include "tests/unit/device_heap.h"

enum { CHUNKS = 64, ARRAYS = 4 };

static struct test_heap heap;
static struct gmod_device_finding finding[8];

FIXTURE(slab)
{
	heap = heap_make(CHUNKS, ARRAYS, GMOD_HEAP_SLAB);
	return 0;
}

FIXTURE(native)
{
	heap = heap_make(CHUNKS, ARRAYS, GMOD_HEAP_NATIVE);
	return 0;
}

FIXTURE(drop)
{
	heap_drop(&heap);
	return 0;
}

#define ON_SLAB(test) TEST_FIXTURE(test, slab, drop)

#define ON_BOTH(test) \
	static void test(void **); \
	LIST_TEST(test##_native, test, native, drop, NULL); \
	ON_SLAB(test)

static uint32_t findings(void)
{
	return take_findings(&heap, finding, 8);
}

static void check_finding(const struct gmod_device_finding *f, uint32_t class_, const void *p, uint64_t size,
			  int64_t first, int64_t last)
{
	assert_int_equal(f->class_, class_);
	assert_true(f->user == (uint64_t)(uintptr_t)p);
	assert_int_equal(f->size, size);
	assert_int_equal((int64_t)f->first, first);
	assert_int_equal((int64_t)f->last, last);
}

/* The only one that there is. */
static void take_finding(uint32_t class_, const void *p, uint64_t size, int64_t first, int64_t last)
{
	assert_int_equal(findings(), 1);
	check_finding(finding, class_, p, size, first, last);
}

static void guard_finds(uint32_t class_, const void *p, uint64_t size, int64_t first, int64_t last)
{
	guard_pass(&heap);
	take_finding(class_, p, size, first, last);
}

static const uint64_t sizes[] = {0,   1,   2,   7,    8,    9,    15,   16,    17,    40,    64,    100,    104,
				 105, 127, 128, 1000, 4096, 5000, 8192, 20000, 32744, 32745, 65536, 100000, 131048};
enum { SIZES = SIZE_OF(sizes) };

ON_BOTH(buffers_are_the_programs)
{
	uint32_t chunks = free_chunks(&heap);
	uint8_t *p[SIZES];

	for (int i = 0; i < SIZES; i++) {
		p[i] = gmod_heap_malloc(heap.heap, sizes[i]);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		assert_int_equal(gmod_heap_size_of(heap.heap, p[i]), sizes[i]);
		memset(p[i], i, sizes[i]);
	}
	guard_pass(&heap);
	for (int i = 0; i < SIZES; i++) {
		for (uint64_t k = 0; k < sizes[i]; k++)
			assert_int_equal(p[i][k], i);
		gmod_heap_free(heap.heap, p[i]);
		assert_int_equal(gmod_heap_size_of(heap.heap, p[i]), 0);
	}
	assert_int_equal(guard_pass(&heap), SIZES);
	assert_int_equal(findings(), 0);
	/* what is left is the arrays' first segments, three to a chunk */
	assert_true(chunks - free_chunks(&heap) <= 1 + ARRAYS / 3);
}

ON_BOTH(sizes_are_apart)
{
	enum { MOST = 2100 };
	static uint8_t *p[MOST];

	for (int i = 0; i < MOST; i++) {
		p[i] = gmod_heap_malloc(heap.heap, (uint64_t)i);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], i, (size_t)i);
	}
	assert_int_equal(guard_pass(&heap), 0);
	for (int i = 0; i < MOST; i++) {
		for (int k = 0; k < i; k++)
			assert_int_equal(p[i][k], (uint8_t)i);
		gmod_heap_free(heap.heap, p[i]);
	}
	assert_int_equal(guard_pass(&heap), MOST);
	assert_int_equal(findings(), 0);
}

ON_BOTH(every_byte_around_a_buffer_counts)
{
	for (int i = 0; i < SIZES; i++)
		for (int64_t off = -16; off < 8; off++) {
			int64_t at = off < 0 ? off : (int64_t)sizes[i] + off;
			uint8_t *p = gmod_heap_malloc(heap.heap, sizes[i]);

			p[at] ^= 1u << (at & 7);
			guard_finds(off < 0 ? GMOD_DEVICE_UNDERFLOW : GMOD_DEVICE_OVERFLOW, p, sizes[i], at, at);
			/* once, also when it is freed; and what is corrupt is never given out again */
			gmod_heap_free(heap.heap, p);
			guard_pass(&heap);
			assert_int_equal(findings(), 0);
			if (sizes[i] >= 30000)
				break;
		}
}

ON_SLAB(the_window_shows_what_is_there)
{
	uint8_t *p, was[2];

	gmod_cpu_thread = (struct gmod_cpu_thread){.in_block = 9, .block = 99};
	p = gmod_heap_malloc(heap.heap, 40);
	gmod_cpu_thread = (struct gmod_cpu_thread){0};
	memset(p, 0x11, 40);
	/* changed, not set: what stands there follows from the address, and may be any byte */
	was[0] = p[40];
	was[1] = p[43];
	p[40] ^= 0xab;
	p[43] ^= 0xcd;
	guard_finds(GMOD_DEVICE_OVERFLOW, p, 40, 40, 43);
	assert_int_equal(finding->owner, 99 << 12 | 9);
	assert_true(finding->caller == GMOD_WHO_UNKNOWN);
	assert_int_equal(finding->window_at, 40);
	assert_int_equal(finding->observed[0] & 0xff, was[0] ^ 0xab);
	assert_int_equal(finding->observed[0] >> 24 & 0xff, was[1] ^ 0xcd);
	assert_int_equal(finding->observed[0] ^ finding->expected[0], 0xcd0000ab);
}

ON_SLAB(the_slack_counts)
{
	/* 16 + 100 + ... go into a block of 128: the tail has 12 bytes */
	uint8_t *p = gmod_heap_malloc(heap.heap, 100);

	p[111]++;
	guard_finds(GMOD_DEVICE_OVERFLOW, p, 100, 111, 111);
}

static void overflow_of_large(uint64_t size, uint64_t off)
{
	uint8_t *p = gmod_heap_malloc(heap.heap, size);
	int64_t at = (int64_t)(size + off);

	p[at] ^= 1;
	guard_finds(GMOD_DEVICE_OVERFLOW, p, size, at, at);
}

/* The tail goes on for GMOD_TAIL_MAX bytes where the block does. */
ON_SLAB(the_tail_of_large_buffers_counts)
{
	static const uint64_t large[] = {32745, 40000, 65513, 100000, 131048, 200000};

	for (size_t i = 0; i < SIZE_OF(large); i++) {
		uint64_t block = (gmod_buffer_needs(large[i]) + GMOD_CHUNK_SIZE - 1) & ~(GMOD_CHUNK_SIZE - 1ull);

		for (uint64_t off = 0; off < GMOD_TAIL_MAX - 8; off += off < 8 ? 1 : 23) {
			if (GMOD_HEAD_SIZE + large[i] + off < block)
				overflow_of_large(large[i], off);
			/* what is corrupt is not given back */
			drop(state);
			slab(state);
		}
	}
}

/* One run of bytes through the end of a buffer and the canary before the next: each of them has been hit. */
ON_SLAB(a_long_overflow_hits_both)
{
	uint8_t *p[8], *hit = NULL;

	for (int i = 0; i < 8; i++)
		p[i] = gmod_heap_malloc(heap.heap, 24);
	for (int i = 0; i < 8 && !hit; i++)
		for (int k = 0; k < 8; k++)
			if (p[k] == p[i] + 48)
				hit = p[i];
	assert_non_null(hit);
	for (int i = 24; i < 40; i++)
		hit[i] ^= 0x5a;
	guard_pass(&heap);
	assert_int_equal(findings(), 2);
	for (int i = 0; i < 2; i++)
		if (finding[i].class_ == GMOD_DEVICE_OVERFLOW)
			check_finding(&finding[i], GMOD_DEVICE_OVERFLOW, hit, 24, 24, 31);
		else
			check_finding(&finding[i], GMOD_DEVICE_UNDERFLOW, hit + 48, 24, -16, -9);
}

/* freeN cannot read a header that has been hit: the guard says what is wrong with it, and nobody says it twice. */
ON_BOTH(freeing_what_is_corrupt_is_said_once)
{
	for (int64_t off = -16; off <= 40; off += off == -1 ? 41 : 1) {
		uint8_t *p = gmod_heap_malloc(heap.heap, 40);

		p[off] ^= 0x5a;
		gmod_heap_free(heap.heap, p);
		guard_pass(&heap);
		guard_finds(off < 0 ? GMOD_DEVICE_UNDERFLOW : GMOD_DEVICE_OVERFLOW, p, 40, off, off);
	}
}

ON_BOTH(freeing_twice_is_said)
{
	uint8_t *p = gmod_heap_malloc(heap.heap, 50);

	gmod_cpu_thread = (struct gmod_cpu_thread){.in_block = 7, .block = 1234};
	gmod_heap_free(heap.heap, p);
	gmod_heap_free(heap.heap, p);
	take_finding(GMOD_DEVICE_DOUBLE_FREE, p, 50, 0, 0);
	assert_int_equal(finding->caller, 1234 << 12 | 7);
	assert_int_equal(guard_pass(&heap), 1);
	assert_int_equal(findings(), 0);
	gmod_cpu_thread = (struct gmod_cpu_thread){0};
}

ON_SLAB(freeing_after_the_release_is_said)
{
	uint8_t *p = gmod_heap_malloc(heap.heap, 50), *q = gmod_heap_malloc(heap.heap, 50);

	gmod_heap_free(heap.heap, p);
	assert_int_equal(guard_pass(&heap), 1);
	gmod_heap_free(heap.heap, p);
	take_finding(GMOD_DEVICE_DOUBLE_FREE, p, 50, 0, 0);
	gmod_heap_free(heap.heap, q);
}

ON_SLAB(freeing_what_is_no_buffer_is_said)
{
	uint8_t *p = gmod_heap_malloc(heap.heap, 200), *large = gmod_heap_malloc(heap.heap, 200000);
	struct gmod_segment *s = (struct gmod_segment *)heap.heap->array[0].segments;
	uint8_t *bad[] = {p + 16,
			  p + 1,
			  p - 16,
			  p + 4096,
			  large + 65536,
			  large + 16,
			  (uint8_t *)s + 16,
			  (uint8_t *)heap.heap,
			  (uint8_t *)&heap,
			  (uint8_t *)(uintptr_t)0x10,
			  (uint8_t *)-16};

	for (size_t i = 0; i < SIZE_OF(bad); i++) {
		gmod_heap_free(heap.heap, bad[i]);
		take_finding(GMOD_DEVICE_INVALID_FREE, bad[i], 0, 0, 0);
	}
	gmod_heap_free(heap.heap, p);
	gmod_heap_free(heap.heap, large);
	assert_int_equal(guard_pass(&heap), 2);
	assert_int_equal(findings(), 0);
}

ON_BOTH(a_write_after_the_free_is_said)
{
	for (uint64_t at = 0; at < 40; at += 13) {
		uint8_t *p = gmod_heap_malloc(heap.heap, 40);

		memset(p, 0, 40);
		gmod_heap_free(heap.heap, p);
		p[at] = 0;
		assert_int_equal(guard_pass(&heap), 0);
		take_finding(GMOD_DEVICE_USE_AFTER_FREE, p, 40, (int64_t)at, (int64_t)at);
	}
}

/* All of what the fill covers is looked at, and nothing else of a freed buffer. */
ON_BOTH(the_fill_has_an_end)
{
	static const uint64_t freed[] = {1, 7, 8, 9, 255, 256, 257, 1000, 100000};

	for (size_t i = 0; i < SIZE_OF(freed); i++) {
		uint64_t end = freed[i] < GMOD_FILL_MAX ? freed[i] : GMOD_FILL_MAX;
		uint8_t *p = gmod_heap_malloc(heap.heap, freed[i]), *q = gmod_heap_malloc(heap.heap, freed[i]);

		gmod_heap_free(heap.heap, p);
		p[end - 1] ^= 1;
		guard_finds(GMOD_DEVICE_USE_AFTER_FREE, p, freed[i], (int64_t)end - 1, (int64_t)end - 1);
		gmod_heap_free(heap.heap, q);
		if (end < freed[i])
			q[end] ^= 1;
		assert_int_equal(guard_pass(&heap), 1);
		assert_int_equal(findings(), 0);
	}
}

ON_SLAB(freed_buffers_wait)
{
	uint8_t *p = gmod_heap_malloc(heap.heap, 40);

	heap.heap->delay = 3;
	gmod_heap_free(heap.heap, p);
	for (int i = 0; i < 3; i++)
		assert_int_equal(guard_pass(&heap), 0);
	assert_int_equal(guard_pass(&heap), 1);
	p = gmod_heap_malloc(heap.heap, 40);
	gmod_heap_free(heap.heap, p);
	guard_pass(&heap);
	p[3]++;
	guard_finds(GMOD_DEVICE_USE_AFTER_FREE, p, 40, 3, 3);
}

ON_SLAB(exhaustion_takes_what_is_freed)
{
	static void *p[1 << 16];
	uint32_t n = 0, again = 0;

	while ((p[n] = gmod_heap_malloc(heap.heap, 1000)))
		n++;
	assert_true(n > CHUNKS * 50);
	assert_int_equal(heap.heap->failed, 1);
	assert_true(heap.heap->reclaims > 0);
	for (uint32_t i = 0; i < n; i++)
		gmod_heap_free(heap.heap, p[i]);
	/* no guard pass: the allocating thread does it */
	while ((p[again] = gmod_heap_malloc(heap.heap, 1000)))
		again++;
	assert_in_range(again, n - 60, n + 60);
	for (uint32_t i = 0; i < again; i++)
		gmod_heap_free(heap.heap, p[i]);
	guard_pass(&heap);
	assert_int_equal(findings(), 0);
}

/* Nothing is looked for or waited for where no heap of this size has room. */
ON_SLAB(what_never_fits_is_refused_at_once)
{
	static const uint64_t sizes[] = {(uint64_t)CHUNKS * GMOD_CHUNK_SIZE - 23,
					 (uint64_t)CHUNKS * GMOD_CHUNK_SIZE,
					 1ull << 39,
					 1ull << 40,
					 UINT64_MAX - 20,
					 UINT64_MAX - 24,
					 UINT64_MAX};

	gmod_heap_free(heap.heap, gmod_heap_malloc(heap.heap, 40));
	for (size_t i = 0; i < SIZE_OF(sizes); i++)
		assert_null(gmod_heap_malloc(heap.heap, sizes[i]));
	assert_int_equal(heap.heap->failed, SIZE_OF(sizes));
	assert_int_equal(heap.heap->reclaims, 0);
	assert_null(gmod_heap_malloc(heap.heap, sizes[0] - 1));
	assert_true(heap.heap->reclaims > 0);
}

/*
 * A thread that is short of memory looks at one segment even where its time is over, and the next thread goes on where
 * it broke off: so what is freed is found, however many buffers there are. It is counted by whoever looks at all.
 */
ON_SLAB(a_search_that_breaks_off_is_gone_on_with)
{
	enum { SEGMENTS = 4 };
	struct gmod_array *a = heap.heap->array;
	gmod_u64 released, sum = 0;
	void *p = gmod_heap_malloc(heap.heap, 24);

	for (int i = 1; i < SEGMENTS * GMOD_SEGMENT_ENTRIES; i++)
		assert_non_null(gmod_heap_malloc(heap.heap, 24));
	guard_pass(&heap);
	gmod_heap_free(heap.heap, p);
	for (int i = 0; i < SEGMENTS; i++) {
		assert_int_equal(sum, 0);
		assert_true(a->barren != gmod_heap_stirs(heap.heap) + 1);
		assert_true(gmod_guard_array(heap.heap, 0, gmod_group_alone(), 1, &released));
		sum += released;
	}
	assert_int_equal(sum, 1);
	assert_int_equal(a->barren, gmod_heap_stirs(heap.heap) + 1);
	assert_int_equal(a->live, SEGMENTS * GMOD_SEGMENT_ENTRIES);
	guard_pass(&heap);
	assert_int_equal(a->live, SEGMENTS * GMOD_SEGMENT_ENTRIES - 1);
}

ON_SLAB(runs_come_together_again)
{
	static void *p[CHUNKS];
	uint32_t n = 0;

	while ((p[n] = gmod_heap_malloc(heap.heap, 100000)))
		n++;
	assert_in_range(n, CHUNKS / 2 - 2, CHUNKS / 2);
	for (uint32_t i = 0; i < n; i += 2)
		gmod_heap_free(heap.heap, p[i]);
	/* every other one: no room for what is larger, room for as large a one */
	assert_null(gmod_heap_malloc(heap.heap, 300000));
	p[0] = gmod_heap_malloc(heap.heap, 100000);
	assert_non_null(p[0]);
	gmod_heap_free(heap.heap, p[0]);
	for (uint32_t i = 1; i < n; i += 2)
		gmod_heap_free(heap.heap, p[i]);
	/* a chunk with a segment of the array lies somewhere between */
	p[0] = gmod_heap_malloc(heap.heap, (uint64_t)CHUNKS / 2 * GMOD_CHUNK_SIZE);
	assert_non_null(p[0]);
	gmod_heap_free(heap.heap, p[0]);
	assert_int_equal(guard_pass(&heap), 1);
	assert_int_equal(findings(), 0);
}

ON_SLAB(an_entry_that_moves_keeps_its_owner)
{
	enum { ALL = 2 * GMOD_SEGMENT_ENTRIES };
	static void *others[ALL];
	uint8_t *p;

	gmod_cpu_thread.block = 4;
	p = gmod_heap_malloc(heap.heap, 24);
	gmod_cpu_thread.block = 0;
	for (int i = 0; i < ALL; i++)
		others[i] = gmod_heap_malloc(heap.heap, 24);
	for (int i = 0; i < ALL; i++)
		gmod_heap_free(heap.heap, others[i]);
	/* the segment goes, but for this one's entry */
	assert_int_equal(guard_pass(&heap), ALL);
	p[24]++;
	guard_finds(GMOD_DEVICE_OVERFLOW, p, 24, 24, 24);
	assert_int_equal(finding[0].owner, 4 << 12);
}

/* Memory ends before the numbers of segments do, in a small heap and in the largest, filled with the smallest buffers.
 */
TEST(there_are_numbers_for_all_segments)
{
	static const uint32_t chunks[] = {1, 1024, 1 << 20, 1 << 24};
	struct gmod_device_layout l;

	for (size_t i = 0; i < SIZE_OF(chunks); i++) {
		assert_true(gmod_device_layout(chunks[i], 1, &l));
		assert_true((uint64_t)l.numbers * GMOD_SEGMENT_ENTRIES >
			    (uint64_t)chunks[i] * (GMOD_CHUNK_SIZE / GMOD_BLOCK_MIN));
	}
}

/* However often there is no memory for a segment, the number of the current one stays what it is. */
ON_SLAB(failures_do_not_run_over)
{
	struct gmod_array *a = heap.heap->array;
	gmod_u64 number;
	gmod_u32 generation;

	assert_non_null(gmod_heap_malloc(heap.heap, 24));
	number = a->control >> 32;
	while (gmod_heap_malloc(heap.heap, 40000) || gmod_segment_make(heap.heap))
		;
	a->control = number << 32 | (UINT32_MAX - 2);
	for (int i = 0; i < 10; i++)
		assert_null(gmod_array_reserve(heap.heap, a, &generation));
	assert_int_equal(a->control, number << 32 | GMOD_SEGMENT_ENTRIES);
}

ON_SLAB(arrays_grow_and_shrink)
{
	static void *p[20000];
	uint32_t chunks = free_chunks(&heap);

	for (int i = 0; i < 20000; i++) {
		p[i] = gmod_heap_malloc(heap.heap, 24);
		assert_non_null(p[i]);
	}
	assert_int_equal(guard_pass(&heap), 0);
	assert_int_equal(heap.heap->array[0].live, 20000);
	assert_int_equal(heap.heap->array[0].live_bytes, 20000 * 24);
	/* all but one in 1000 go: what is left moves together */
	for (int i = 0; i < 20000; i++)
		if (i % 1000)
			gmod_heap_free(heap.heap, p[i]);
	assert_int_equal(guard_pass(&heap), 20000 - 20);
	assert_int_equal(guard_pass(&heap), 0);
	assert_int_equal(heap.heap->array[0].live, 20);
	assert_int_equal(heap.heap->numbers - 1 - set_count(&heap.heap->free_numbers, heap.heap->numbers), 1);
	for (int i = 0; i < 20000; i += 1000)
		gmod_heap_free(heap.heap, p[i]);
	assert_int_equal(guard_pass(&heap), 20);
	assert_true(chunks - free_chunks(&heap) <= 1);
	assert_int_equal(findings(), 0);
}

ON_SLAB(a_full_ring_counts_what_is_lost)
{
	uint8_t *p = gmod_heap_malloc(heap.heap, 8);

	gmod_heap_free(heap.heap, p);
	for (int i = 0; i < GMOD_RING_SLOTS + 10; i++)
		gmod_heap_free(heap.heap, p);
	assert_int_equal(heap.heap->findings_lost, 10);
	/* what the guard finds while there is no room is said when there is */
	p = gmod_heap_malloc(heap.heap, 40);
	p[40] ^= 1;
	guard_pass(&heap);
	assert_int_equal(take_findings(&heap, finding, 8), GMOD_RING_SLOTS);
	guard_pass(&heap);
	guard_finds(GMOD_DEVICE_OVERFLOW, p, 40, 40, 40);
	assert_int_equal(heap.heap->findings, GMOD_RING_SLOTS + 1);
}

/* Whatever a kernel writes to slots that are still to come, what is put there then is whole. */
ON_SLAB(scribbles_are_overwritten)
{
	uint8_t *p = gmod_heap_malloc(heap.heap, 40);

	memset(heap.ring->slot, 0x5a, sizeof(heap.ring->slot));
	assert_int_equal(findings(), 0);
	p[40] ^= 1;
	guard_finds(GMOD_DEVICE_OVERFLOW, p, 40, 40, 40);
}

/* ---- threads ---- */

enum { THREADS = 8, HELD = 100, ROUNDS = 20000 };
static atomic_int done_threads;

static void churn(struct test_thread *t)
{
	struct gmod_device_heap *h = t->heap->heap;
	uint8_t *held[HELD] = {0};
	uint64_t size[HELD] = {0};

	for (int i = 0; i < ROUNDS; i++) {
		uint32_t at = (uint32_t)random_below(&t->seed, HELD);

		if (!held[at]) {
			size[at] = random_below(&t->seed, random_below(&t->seed, 50) ? 300 : 70000);
			held[at] = gmod_heap_malloc(h, size[at]);
			if (held[at])
				memset(held[at], (int)t->number, size[at]);
			continue;
		}
		for (uint64_t k = 0; k < size[at]; k += 5)
			assert_int_equal(held[at][k], t->number);
		gmod_heap_free(h, held[at]);
		held[at] = NULL;
	}
	for (int i = 0; i < HELD; i++)
		if (held[i])
			gmod_heap_free(h, held[i]);
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

ON_BOTH(nothing_is_lost_between_threads)
{
	uint64_t released = 0;

	atomic_store(&done_threads, 0);
	run_threads(&heap, THREADS, guard_and_churn);
	guard_pass(&heap);
	guard_pass(&heap);
	for (int a = 0; a < ARRAYS; a++) {
		assert_int_equal(heap.heap->array[a].live, 0);
		assert_int_equal(heap.heap->array[a].waiting, 0);
		released += heap.heap->array[a].released;
	}
	assert_true(released > 0);
	assert_int_equal(findings(), 0);
	assert_int_equal(heap.heap->findings, 0);
	assert_true(set_count(&heap.heap->free_numbers, heap.heap->numbers) >= heap.heap->numbers - 1 - 2 * ARRAYS);
}

/* One buffer, freed by all threads at once: one of them frees it, all the others are reported. */
static void *shared_buffer;
static pthread_barrier_t together;

static void free_the_same(struct test_thread *t)
{
	for (int i = 0; i < 500; i++) {
		if (!t->number)
			shared_buffer = gmod_heap_malloc(t->heap->heap, 100);
		pthread_barrier_wait(&together);
		gmod_heap_free(t->heap->heap, shared_buffer);
		pthread_barrier_wait(&together);
		if (t->number)
			continue;
		CHECK(take_findings(t->heap, finding, 8) == THREADS - 1, "round %d", i);
		for (int k = 0; k < THREADS - 1; k++)
			check_finding(&finding[k], GMOD_DEVICE_DOUBLE_FREE, shared_buffer, 100, 0, 0);
		CHECK(guard_pass(t->heap) == 1, "round %d", i);
	}
}

ON_SLAB(one_of_many_frees_wins)
{
	pthread_barrier_init(&together, NULL, THREADS);
	run_threads(&heap, THREADS, free_the_same);
	assert_int_equal(findings(), 0);
}
