/*
 * A device heap in ordinary memory, made as the library makes it on a GPU, and threads that play the GPU's. For test
 * programs of one file.
 */
#pragma once

#include <sys/mman.h>

static inline void cpu_step(void);
#define GMOD_CPU_STEP() cpu_step()

#include "device/layout.h"
#include "include/gmod/device_malloc.h"
#include "tests/unit/support.h"

_Thread_local struct gmod_cpu_thread gmod_cpu_thread;

/*
 * One operation in 64 lets another thread in: what happens between two of them is what the tests are about. Where other
 * programs want the CPU that takes milliseconds each time, and a thread does it for two seconds at most.
 */
static inline void cpu_step(void)
{
	static _Thread_local unsigned n = 1;
	static _Thread_local gmod_u64 away;
	gmod_u64 began;

	n = n * 1664525 + 1013904223;
	if (n >> 26 || away > 2000000000u)
		return;
	began = gmod_clock();
	sched_yield();
	away += gmod_clock() - began;
}

struct test_heap {
	struct gmod_device_layout layout;
	char *memory;
	size_t size;
	struct gmod_device_heap *heap;
	struct gmod_device_ring *ring;
};

/* A heap that may grow to `chunks`, of which the first `committed` have memory. */
static inline struct test_heap heap_make_growing(uint32_t committed, uint32_t chunks, uint32_t arrays,
						 enum gmod_heap_mode mode)
{
	static const uint64_t key[2] = {0x0123456789abcdef, 0xfedcba9876543210};
	struct test_heap t = {.heap = NULL};
	struct gmod_device_header_facts facts;
	uint64_t metadata, first;

	assert_true(gmod_device_layout(chunks, arrays, &t.layout));
	t.size = t.layout.size + ((size_t)chunks + 1) * GMOD_CHUNK_SIZE + sizeof(struct gmod_device_ring);
	t.memory = mmap(NULL, t.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(t.memory != MAP_FAILED);
	first = ((uint64_t)(uintptr_t)t.memory + GMOD_CHUNK_SIZE - 1) & ~(uint64_t)(GMOD_CHUNK_SIZE - 1);
	metadata = first + (uint64_t)chunks * GMOD_CHUNK_SIZE;
	t.ring = (struct gmod_device_ring *)(metadata + t.layout.size);
	t.heap = (struct gmod_device_heap *)metadata;
	facts =
	    (struct gmod_device_header_facts){metadata, first, (uint64_t)(uintptr_t)t.ring, key, mode, committed, 0};
	gmod_device_header(&t.layout, &facts, t.heap);
	gmod_device_set_image(chunks, 0, committed, (uint64_t *)(metadata + t.layout.free_chunks));
	gmod_device_set_image(t.layout.numbers, 1, t.layout.numbers, (uint64_t *)(metadata + t.layout.free_numbers));
	return t;
}

static inline struct test_heap heap_make(uint32_t chunks, uint32_t arrays, enum gmod_heap_mode mode)
{
	return heap_make_growing(chunks, chunks, arrays, mode);
}

/* Buffers in CUDA's own heap that are still there, corrupt ones above all. */
static inline void heap_drop_native(const struct test_heap *t)
{
	for (uint32_t a = 0; a < t->heap->arrays; a++)
		for (struct gmod_segment *s = gmod_segment_at(t->heap->array[a].segments); s;
		     s = gmod_segment_at(s->next))
			for (uint32_t i = 0; i < GMOD_SEGMENT_ENTRIES; i++)
				if (s->entry[i].word & GMOD_ENTRY_ADDRESS)
					gmod_native_release(t->heap,
							    (s->entry[i].word & GMOD_ENTRY_ADDRESS) - GMOD_HEAD_SIZE);
}

static inline void heap_drop(struct test_heap *t)
{
	if (t->heap->mode == GMOD_HEAP_NATIVE)
		heap_drop_native(t);
	munmap(t->memory, t->size);
}

static inline uint32_t set_count(const struct gmod_set *s, uint32_t members)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < gmod_set_words(members); w++)
		n += (uint32_t)gmod_popcount(s->words[w]);
	return n;
}

static inline uint32_t free_chunks(const struct test_heap *t)
{
	return set_count(&t->heap->free_chunks, t->heap->chunks);
}

/* A guard pass over all arrays; returns how many buffers it has released. */
static inline uint64_t guard_pass(const struct test_heap *t)
{
	gmod_u64 released = 0, here;

	gmod_add32_relaxed(&t->heap->pass, 1);
	for (uint32_t a = 0; a < t->heap->arrays; a++)
		if (gmod_guard_array(t->heap, a, gmod_group_alone(), 0, &here))
			released += here;
	return released;
}

/* What the ring has for the host: copies at most n findings and takes them all. */
static inline uint32_t take_findings(struct test_heap *t, struct gmod_device_finding *out, uint32_t n)
{
	uint32_t count = 0;

	while (t->ring->slot[t->ring->taken % GMOD_RING_SLOTS].sequence == t->ring->taken + 1) {
		const struct gmod_device_finding *f = &t->ring->slot[t->ring->taken % GMOD_RING_SLOTS];

		assert_true(f->seal == gmod_finding_seal(t->heap->key, f));
		if (count < n)
			out[count] = *f;
		count++;
		t->ring->taken++;
	}
	return count;
}

/* Run `body` in n threads, each on a multiprocessor and in a block of its own. */
struct test_thread {
	struct test_heap *heap;
	uint32_t number;
	uint64_t seed;
	void (*body)(struct test_thread *);
};

static inline void *test_thread_main(void *arg)
{
	struct test_thread *t = arg;

	gmod_cpu_thread = (struct gmod_cpu_thread){.processor = t->number, .in_block = t->number};
	t->body(t);
	return NULL;
}

static inline void run_threads(struct test_heap *heap, uint32_t n, void (*body)(struct test_thread *))
{
	pthread_t id[64];
	struct test_thread t[64];

	assert_true(n <= 64);
	for (uint32_t i = 0; i < n; i++) {
		t[i] = (struct test_thread){heap, i, 0x9e3779b97f4a7c15u * (i + 1), body};
		id[i] = begin_thread(test_thread_main, &t[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		end_thread(id[i]);
}
