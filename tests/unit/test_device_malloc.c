/* mallocN and freeN on the CPU: what they and the guard see, say and give back. */

#include "tests/unit/device_heap.h"

enum { CHUNKS = 64, GUARDS = 4 };

static struct test_finding finding[8];

HEAP_FIXTURES(CHUNKS, GUARDS)

#define ON_HEAP(test) TEST_FIXTURE(test, make, drop)

static void *allocate(uint64_t size)
{
	return gmod_heap_malloc(size, 16);
}

static uint32_t findings(void)
{
	return take_findings(&heap, finding, 8);
}

static void check_corrupt(const struct test_finding *f, enum gmod_class class, const void *p, uint64_t size,
			  int64_t first, int64_t last)
{
	assert_int_equal(f->said.class_, GMOD_DEVICE_CORRUPT);
	assert_true(f->said.user == (uint64_t)(uintptr_t)p);
	assert_int_equal(f->verdict.class, class);
	assert_int_equal(f->verdict.size, size);
	assert_int_equal(f->verdict.first, first);
	assert_int_equal(f->verdict.last, last);
}

/* The only one that there is. */
static void take_corrupt(enum gmod_class class, const void *p, uint64_t size, int64_t first, int64_t last)
{
	assert_int_equal(findings(), 1);
	check_corrupt(finding, class, p, size, first, last);
}

static void guard_finds(enum gmod_class class, const void *p, uint64_t size, int64_t first, int64_t last)
{
	guard_pass(&heap);
	take_corrupt(class, p, size, first, last);
}

static void take_bad_free(uint32_t class_, const void *p)
{
	assert_int_equal(findings(), 1);
	assert_int_equal(finding->said.class_, class_);
	assert_true(finding->said.user == (uint64_t)(uintptr_t)p);
}

static const uint64_t sizes[] = {0,   1,   2,   7,    8,    9,    15,   16,    17,    40,    64,    100,    104,
				 105, 127, 128, 1000, 4096, 5000, 8192, 20000, 32744, 32745, 65536, 100000, 131048};
enum { SIZES = SIZE_OF(sizes) };

ON_HEAP(buffers_are_the_programs)
{
	uint32_t chunks = free_chunks();
	uint8_t *p[SIZES];

	for (int i = 0; i < SIZES; i++) {
		p[i] = allocate(sizes[i]);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		assert_int_equal(gmod_heap_size_of(p[i]), sizes[i]);
		memset(p[i], i, sizes[i]);
	}
	guard_pass(&heap);
	for (int i = 0; i < SIZES; i++) {
		for (uint64_t k = 0; k < sizes[i]; k++)
			assert_int_equal(p[i][k], i);
		gmod_heap_free(p[i]);
		assert_int_equal(gmod_heap_size_of(p[i]), 0);
	}
	assert_int_equal(released(&heap), SIZES);
	assert_int_equal(findings(), 0);
	assert_int_equal(free_chunks(), chunks);
}

ON_HEAP(sizes_are_apart)
{
	enum { MOST = 2100 };
	static uint8_t *p[MOST];

	for (int i = 0; i < MOST; i++) {
		p[i] = allocate((uint64_t)i);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], i, (size_t)i);
	}
	assert_int_equal(guard_pass(&heap), 0);
	for (int i = 0; i < MOST; i++) {
		for (int k = 0; k < i; k++)
			assert_int_equal(p[i][k], (uint8_t)i);
		gmod_heap_free(p[i]);
	}
	assert_int_equal(released(&heap), MOST);
	assert_int_equal(findings(), 0);
}

/* By the guard, and by freeN if that comes first; once, and the memory is free again. */
ON_HEAP(every_byte_around_a_buffer_counts)
{
	for (int i = 0; i < SIZES; i++)
		for (int64_t off = -16; off < 8; off++) {
			int64_t at = off < 0 ? off : (int64_t)sizes[i] + off;
			enum gmod_class class = off < 0 ? GMOD_HEAP_BUFFER_UNDERFLOW : GMOD_HEAP_BUFFER_OVERFLOW;
			uint8_t *p = allocate(sizes[i]), *q = allocate(sizes[i]);

			p[at] ^= (uint8_t)(1u << (at & 7));
			guard_finds(class, p, sizes[i], at, at);
			q[at] ^= (uint8_t)(1u << (at & 7));
			gmod_heap_free(q);
			take_corrupt(class, q, sizes[i], at, at);
			gmod_heap_free(p);
			guard_pass(&heap);
			assert_int_equal(findings(), 0);
			assert_int_equal(free_chunks(), CHUNKS);
		}
}

ON_HEAP(every_byte_around_an_aligned_buffer_counts)
{
	for (uint64_t align = 32; align <= GMOD_ALIGN_MAX; align *= 4)
		for (int i = 0; i < SIZES; i += 3) {
			uint8_t *p = gmod_heap_malloc(sizes[i], align), *q = gmod_heap_malloc(sizes[i], align);

			assert_int_equal((uintptr_t)p % align, 0);
			p[sizes[i]]++;
			guard_finds(GMOD_HEAP_BUFFER_OVERFLOW, p, sizes[i], (int64_t)sizes[i], (int64_t)sizes[i]);
			q[-1]--;
			gmod_heap_free(q);
			take_corrupt(GMOD_HEAP_BUFFER_UNDERFLOW, q, sizes[i], -1, -1);
			gmod_heap_free(p);
		}
}

ON_HEAP(the_report_shows_what_is_there)
{
	uint8_t *p, was[2];

	gmod_cpu_thread = (struct gmod_cpu_thread){.in_block = 9, .block = 99};
	p = allocate(40);
	gmod_cpu_thread = (struct gmod_cpu_thread){0};
	memset(p, 0x11, 40);
	/* changed, not set: what stands there follows from the address */
	was[0] = p[40];
	was[1] = p[43];
	p[40] ^= 0xab;
	p[43] ^= 0xcd;
	guard_finds(GMOD_HEAP_BUFFER_OVERFLOW, p, 40, 40, 43);
	assert_int_equal(finding->said.owner & GMOD_WHO_UNKNOWN, 99 << 10 | 9);
	assert_true(finding->said.caller == GMOD_WHO_UNKNOWN);
	assert_int_equal(finding->verdict.changed, 2);
	assert_int_equal(finding->verdict.count, 4);
	assert_int_equal(finding->verdict.expected[0], was[0]);
	assert_int_equal(finding->verdict.observed[0], was[0] ^ 0xab);
	assert_int_equal(finding->verdict.observed[3], was[1] ^ 0xcd);
	assert_int_equal(finding->verdict.observed[1], finding->verdict.expected[1]);
}

ON_HEAP(the_slack_counts)
{
	/* 16 + 97 + ... go into a block of 128: the tail has 15 bytes */
	uint8_t *p = allocate(97);

	p[111]++;
	guard_finds(GMOD_HEAP_BUFFER_OVERFLOW, p, 97, 111, 111);
}

static void overflow_of_large(uint64_t size, uint64_t off)
{
	uint8_t *p = allocate(size);
	int64_t at = (int64_t)(size + off);

	p[at] ^= 1;
	guard_finds(GMOD_HEAP_BUFFER_OVERFLOW, p, size, at, at);
	gmod_heap_free(p);
}

/* The tail goes on for GMOD_TAIL_MAX bytes where the block does. */
ON_HEAP(the_tail_of_large_buffers_counts)
{
	static const uint64_t large[] = {32745, 40000, 65497, 100000, 131032, 200000};

	for (size_t i = 0; i < SIZE_OF(large); i++) {
		uint64_t around = GMOD_ENTRY_SIZE + GMOD_HEAD_SIZE, chunk = GMOD_CHUNK_SIZE;
		uint64_t end = (around + large[i] + GMOD_TAIL_MIN + chunk - 1) / chunk * chunk - around;

		for (uint64_t off = 0; off < GMOD_TAIL_MAX - 8 && large[i] + off < end; off += off < 8 ? 1 : 23)
			overflow_of_large(large[i], off);
	}
	assert_int_equal(free_chunks(), CHUNKS);
}

/* One run of bytes through the end of a buffer and the canary before the next: each of them has been hit. */
ON_HEAP(a_long_overflow_hits_both)
{
	uint8_t *p[8], *hit = NULL;

	for (int i = 0; i < 8; i++)
		p[i] = allocate(24);
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
		if (finding[i].verdict.class == GMOD_HEAP_BUFFER_OVERFLOW)
			check_corrupt(&finding[i], GMOD_HEAP_BUFFER_OVERFLOW, hit, 24, 24, 31);
		else
			check_corrupt(&finding[i], GMOD_HEAP_BUFFER_UNDERFLOW, hit + 48, 24, -16, -9);
}

ON_HEAP(freeing_what_is_corrupt_is_said_once)
{
	for (int64_t off = -16; off <= 40; off += off == -1 ? 41 : 1) {
		uint8_t *p = allocate(40);

		p[off] ^= 0x5a;
		gmod_heap_free(p);
		take_corrupt(off < 0 ? GMOD_HEAP_BUFFER_UNDERFLOW : GMOD_HEAP_BUFFER_OVERFLOW, p, 40, off, off);
		assert_int_equal(finding->said.caller, 0);
		guard_pass(&heap);
		assert_int_equal(findings(), 0);
	}
	assert_int_equal(heap.state->used, 0);
}

/* Nothing of the heap's is used up by what is corrupt, for as long as it is freed. */
ON_HEAP(corrupt_buffers_come_back)
{
	for (int i = 0; i < 100000; i++) {
		uint8_t *p = allocate(100);

		assert_non_null(p);
		p[100]++;
		gmod_heap_free(p);
		if (i % GMOD_RING_SLOTS == 0)
			findings();
	}
	assert_int_equal(heap.state->findings_lost, 0);
	assert_int_equal(heap.state->failed, 0);
}

ON_HEAP(freeing_twice_is_said)
{
	uint8_t *p = allocate(50), *q = allocate(50);

	gmod_cpu_thread = (struct gmod_cpu_thread){.in_block = 7, .block = 1234};
	gmod_heap_free(p);
	gmod_heap_free(p);
	take_bad_free(GMOD_DEVICE_DOUBLE_FREE, p);
	assert_int_equal(gmod_entry_size(finding->said.word), 50);
	assert_int_equal(finding->said.caller, 1234 << 10 | 7);
	assert_int_equal(released(&heap), 1);
	gmod_heap_free(q);
	/* its chunk is free then */
	gmod_heap_free(q);
	take_bad_free(GMOD_DEVICE_DOUBLE_FREE, q);
	guard_pass(&heap);
	assert_int_equal(findings(), 0);
	gmod_cpu_thread = (struct gmod_cpu_thread){0};
}

ON_HEAP(freeing_what_is_no_buffer_is_said)
{
	uint8_t *p = allocate(200), *large = allocate(200000);
	uint8_t *bad[] = {p + 16,
			  p + 1,
			  p - 16,
			  p + 4096,
			  large + 65536,
			  large + 16,
			  (uint8_t *)gmod_unit_heap.base + 16,
			  (uint8_t *)heap.state,
			  (uint8_t *)&heap,
			  (uint8_t *)(uintptr_t)0x10,
			  (uint8_t *)-16};

	for (size_t i = 0; i < SIZE_OF(bad); i++) {
		gmod_heap_free(bad[i]);
		take_bad_free(GMOD_DEVICE_INVALID_FREE, bad[i]);
		assert_true(finding->said.word == 0 && finding->said.owner == GMOD_WHO_UNKNOWN);
	}
	gmod_heap_free(p);
	gmod_heap_free(large);
	assert_int_equal(released(&heap), 2);
	assert_int_equal(findings(), 0);
}

/* By the guard, or when the memory is handed out again. */
ON_HEAP(a_write_after_the_free_is_said)
{
	for (uint64_t at = 0; at < 40; at += 13) {
		uint8_t *p = allocate(40), *again;

		memset(p, 0, 40);
		gmod_heap_free(p);
		p[at] = 0;
		guard_finds(GMOD_USE_AFTER_FREE, p, 40, (int64_t)at, (int64_t)at);
		again = allocate(40);
		assert_true(again == p);
		assert_int_equal(findings(), 0);
		gmod_heap_free(again);
		again[at] = 0;
		assert_true(allocate(40) == again);
		take_corrupt(GMOD_USE_AFTER_FREE, again, 40, (int64_t)at, (int64_t)at);
		gmod_heap_free(again);
	}
}

/* All of what the fill covers is looked at, and nothing else of a freed buffer. */
ON_HEAP(the_fill_has_an_end)
{
	static const uint64_t freed[] = {1, 7, 8, 9, 255, 256, 257, 1000, 100000};

	for (size_t i = 0; i < SIZE_OF(freed); i++) {
		uint64_t end = freed[i] < GMOD_FILL_MAX ? freed[i] : GMOD_FILL_MAX;
		uint8_t *p = allocate(freed[i]), *q = allocate(freed[i]);

		gmod_heap_free(p);
		p[end - 1] ^= 1;
		guard_finds(GMOD_USE_AFTER_FREE, p, freed[i], (int64_t)end - 1, (int64_t)end - 1);
		gmod_heap_free(q);
		if (end < freed[i])
			q[end] ^= 1;
		guard_pass(&heap);
		assert_int_equal(findings(), 0);
	}
}

/* What was in a chunk that is another's now is nobody's: neither a run's last chunks nor another class's entries. */
ON_HEAP(freed_memory_may_be_anything)
{
	for (int round = 0; round < 20; round++) {
		uint64_t size = round % 2 ? 40 : 300000;
		uint8_t *p = allocate(size), *other[200];

		gmod_heap_free(p);
		for (int i = 0; i < 200; i++) {
			other[i] = allocate(round % 3 ? 1000 : 5000);
			memset(other[i], round, 1000);
		}
		guard_pass(&heap);
		assert_int_equal(findings(), 0);
		for (int i = 0; i < 200; i++)
			gmod_heap_free(other[i]);
	}
	assert_int_equal(heap.state->damaged, 0);
}

ON_HEAP(freed_buffers_wait)
{
	uint8_t *p = allocate(40);

	gmod_unit_heap.delay = 3;
	gmod_heap_free(p);
	for (int i = 0; i < 3; i++)
		assert_int_equal(guard_pass(&heap), 0);
	assert_int_equal(heap.state->share[0].waiting + heap.state->share[1].waiting + heap.state->share[2].waiting +
			     heap.state->share[3].waiting,
			 1);
	assert_int_equal(guard_pass(&heap), 1);
	assert_int_equal(heap.state->held, 0);
	p = allocate(40);
	gmod_heap_free(p);
	guard_pass(&heap);
	p[3]++;
	guard_finds(GMOD_USE_AFTER_FREE, p, 40, 3, 3);
	gmod_heap_free(p);
	take_bad_free(GMOD_DEVICE_DOUBLE_FREE, p);
	assert_int_equal(findings(), 0);
}

/* No more than a quarter of the memory is kept back, and nothing where memory is short. */
ON_HEAP(what_waits_is_bounded)
{
	uint32_t n = 0;

	gmod_unit_heap.delay = 30000;
	for (int i = 0; i < CHUNKS * 60 * 3; i++) {
		void *p = allocate(1000);

		assert_non_null(p);
		gmod_heap_free(p);
	}
	assert_true(heap.state->held > 0 && heap.state->held <= (uint64_t)CHUNKS * GMOD_CHUNK_SIZE / 4);
	assert_int_equal(findings(), 0);
	/* the guard gives it back when somebody wants it */
	heap.state->pressing = heap.state->pass + 1;
	assert_true(guard_pass(&heap) > 1000);
	assert_int_equal(heap.state->held, 0);
	assert_int_equal(free_chunks(), CHUNKS);
	while (allocate(1000))
		n++;
	assert_true(n > CHUNKS * 50);
}

/* Nothing is looked for or waited for where no heap of this size has room. */
ON_HEAP(what_never_fits_is_refused_at_once)
{
	static const uint64_t large[] = {(uint64_t)CHUNKS * GMOD_CHUNK_SIZE - 39,
					 (uint64_t)CHUNKS * GMOD_CHUNK_SIZE,
					 1ull << 36,
					 1ull << 40,
					 UINT64_MAX - 20,
					 UINT64_MAX - 24,
					 UINT64_MAX};
	void *p;

	for (size_t i = 0; i < SIZE_OF(large); i++)
		assert_null(allocate(large[i]));
	assert_int_equal(heap.state->failed, SIZE_OF(large));
	p = allocate(large[0] - 1);
	assert_non_null(p);
	gmod_heap_free(p);
	assert_int_equal(findings(), 0);
}

ON_HEAP(exhaustion_is_told_soon)
{
	static void *p[1 << 16];
	uint32_t n = 0, again = 0;
	gmod_u64 began;

	while ((p[n] = allocate(1000)))
		n++;
	assert_true(n > CHUNKS * 50);
	assert_int_equal(heap.state->failed, 1);
	began = gmod_clock();
	assert_null(allocate(1000));
	assert_true(gmod_clock() - began < 250000000u);
	for (uint32_t i = 0; i < n; i++)
		gmod_heap_free(p[i]);
	while ((p[again] = allocate(1000)))
		again++;
	assert_int_equal(again, n);
	for (uint32_t i = 0; i < again; i++)
		gmod_heap_free(p[i]);
	guard_pass(&heap);
	assert_int_equal(findings(), 0);
}

ON_HEAP(runs_come_together_again)
{
	static void *p[CHUNKS];
	uint32_t n = 0;

	while ((p[n] = allocate(100000)))
		n++;
	assert_int_equal(n, CHUNKS / 2);
	for (uint32_t i = 0; i < n; i += 2)
		gmod_heap_free(p[i]);
	/* every other one: no room for what is larger, room for as large a one */
	assert_null(allocate(300000));
	p[0] = allocate(100000);
	assert_non_null(p[0]);
	gmod_heap_free(p[0]);
	for (uint32_t i = 1; i < n; i += 2)
		gmod_heap_free(p[i]);
	p[0] = allocate((uint64_t)(CHUNKS - 1) * GMOD_CHUNK_SIZE);
	assert_non_null(p[0]);
	gmod_heap_free(p[0]);
	assert_int_equal(findings(), 0);
}

ON_HEAP(a_full_ring_counts_what_is_lost)
{
	uint8_t *p = allocate(8), *q = allocate(100);

	gmod_heap_free(p);
	for (int i = 0; i < GMOD_RING_SLOTS + 10; i++)
		gmod_heap_free(p);
	assert_int_equal(heap.state->findings_lost, 10);
	/* what is found while there is no room is said when there is, also of what was freed since */
	p = allocate(40);
	p[40] ^= 1;
	q[100] ^= 1;
	gmod_heap_free(q);
	guard_pass(&heap);
	assert_int_equal(take_findings(&heap, finding, 8), GMOD_RING_SLOTS);
	assert_int_equal(released(&heap), 1);
	guard_pass(&heap);
	assert_int_equal(findings(), 2);
	for (int i = 0; i < 2; i++)
		check_corrupt(&finding[i], GMOD_HEAP_BUFFER_OVERFLOW, finding[i].verdict.size == 40 ? p : q,
			      finding[i].verdict.size == 40 ? 40 : 100, finding[i].verdict.size == 40 ? 40 : 100,
			      finding[i].verdict.size == 40 ? 40 : 100);
	assert_int_equal(released(&heap), 2);
	assert_int_equal(heap.state->findings, GMOD_RING_SLOTS + 2);
	assert_int_equal(heap.state->findings_lost, 10);
}

/* Whatever a kernel writes to slots that are still to come, what is put there then is whole. */
ON_HEAP(scribbles_are_overwritten)
{
	uint8_t *p = allocate(40);

	memset(heap.ring->slot, 0x5a, sizeof(heap.ring->slot));
	assert_int_equal(findings(), 0);
	p[40] ^= 1;
	guard_finds(GMOD_HEAP_BUFFER_OVERFLOW, p, 40, 40, 40);
}

/*
 * An entry that has been overwritten is counted, and nobody is blamed for it. The lowest four bits are the state, which
 * has no check of its own: what alone changes these may be reported.
 */
ON_HEAP(damaged_entries_are_left_alone)
{
	for (int bit = 4; bit < 128; bit++) {
		uint8_t *p = allocate(100), *q;
		gmod_u64 *words = &gmod_entry_at(gmod_place_at((uint64_t)p))->word;

		words[bit / 64] ^= 1ull << bit % 64;
		if (bit % 2)
			guard_pass(&heap);
		else
			gmod_heap_free(p);
		assert_int_equal(findings(), 0);
		guard_pass(&heap);
		assert_int_equal(findings(), 0);
		assert_true(heap.state->damaged > 0);
		heap.state->damaged = 0;
		q = allocate(100);
		assert_true(q && q != p);
		gmod_heap_free(q);
	}
}
