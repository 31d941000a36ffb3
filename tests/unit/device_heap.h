/*
 * A device heap in ordinary memory, made as the library makes it on a GPU, and threads that play the GPU's. For test
 * programs of one file.
 */
#pragma once

#include <sys/mman.h>

static inline void cpu_step(void);
#define GMOD_CPU_STEP() cpu_step()

#include "device/layout.h"
#include "device/verdict.h"
#include "include/gmod/device_malloc.h"
#include "tests/unit/support.h"

_Thread_local struct gmod_cpu_thread gmod_cpu_thread;
struct gmod_device_heap gmod_unit_heap;

/*
 * One operation in 64 lets another thread in: what happens between two of them is what the tests are about. Where other
 * programs want the CPU that takes milliseconds each time, and a thread does it for two seconds at most.
 */
/* Of this thread. */
static _Thread_local __attribute__((unused)) uint64_t cpu_steps;

static inline void cpu_step(void)
{
	static _Thread_local unsigned n = 1;
	static _Thread_local gmod_u64 away;
	gmod_u64 began;

	cpu_steps++;
	n = n * 1664525 + 1013904223;
	if (n >> 26 || away > 2000000000u)
		return;
	began = gmod_clock();
	sched_yield();
	away += gmod_clock() - began;
}

/* The heap that gmod_unit_heap is then. */
struct test_heap {
	struct gmod_device_layout layout;
	char *memory;
	size_t size;
	struct gmod_heap_state *state;
	struct gmod_device_ring *ring;
};

/* So many bytes of a heap, not far behind what lies before them, and nothing that can be touched in between. */
static inline uint64_t heap_part(uint64_t behind, size_t size)
{
	uint64_t at = (behind / GMOD_CHUNK_SIZE + 1) * GMOD_CHUNK_SIZE;

	assert_int_equal(mprotect((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE), 0);
	return at;
}

static inline struct test_heap heap_make(uint32_t chunks, uint32_t guards)
{
	static const uint64_t key[2] = {0x0123456789abcdef, 0xfedcba9876543210};
	struct test_heap t = {.memory = NULL};
	struct gmod_device_facts facts = {.key = key};

	assert_true(gmod_device_layout(chunks, guards, &t.layout));
	t.size = t.layout.size + ((size_t)chunks + 6) * GMOD_CHUNK_SIZE + sizeof(struct gmod_device_ring);
	t.memory = mmap(NULL, t.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(t.memory != MAP_FAILED);
	facts.chunks = heap_part((uint64_t)(uintptr_t)t.memory, (uint64_t)chunks * GMOD_CHUNK_SIZE);
	facts.metadata = heap_part(facts.chunks + (uint64_t)chunks * GMOD_CHUNK_SIZE, t.layout.size);
	facts.ring = heap_part(facts.metadata + t.layout.size, sizeof(struct gmod_device_ring));
	t.state = (struct gmod_heap_state *)facts.metadata;
	t.ring = (struct gmod_device_ring *)facts.ring;
	gmod_device_image(&t.layout, t.state);
	gmod_unit_heap = gmod_device_heap(&t.layout, &facts);
	return t;
}

static inline void heap_drop(struct test_heap *t)
{
	munmap(t->memory, t->size);
	gmod_unit_heap = (struct gmod_device_heap){.base = 0};
}

/* A heap of their own for tests: what they begin and end with. */
#define HEAP_FIXTURES(chunks, guards) \
	static struct test_heap heap; \
	FIXTURE(make) \
	{ \
		heap = heap_make(chunks, guards); \
		return 0; \
	} \
	FIXTURE(drop) \
	{ \
		heap_drop(&heap); \
		return 0; \
	}

static inline uint32_t set_count(uint32_t set)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < gmod_unit_heap.set_words; w++)
		n += (uint32_t)__builtin_popcount(gmod_set_words(set)[w]);
	return n;
}

static inline uint32_t free_chunks(void)
{
	return set_count(GMOD_SET_FREE);
}

/* Buffers that were given back so far. */
static inline uint64_t released(const struct test_heap *t)
{
	uint64_t n = 0;

	for (int i = 0; i < GMOD_SLOTS; i++)
		n += __atomic_load_n(&t->state->freed[i], __ATOMIC_RELAXED);
	return n;
}

/* A guard pass over all shares; returns how many buffers it has given back. */
static inline uint64_t guard_pass(const struct test_heap *t)
{
	uint64_t before = released(t);

	gmod_add32_relaxed(&t->state->pass, 1);
	for (uint32_t i = 0; i < t->layout.guards; i++)
		gmod_guard_share(i, gmod_warp_here());
	return released(t) - before;
}

/* What the ring has for the host, as the host reads it. */
struct test_finding {
	struct gmod_device_finding said;
	struct gmod_verdict verdict; /* of a corrupt buffer */
};

/* Copies at most n findings and takes them all. */
static inline uint32_t take_findings(struct test_heap *t, struct test_finding *out, uint32_t n)
{
	const uint64_t *key = (const uint64_t *)gmod_unit_heap.key;
	uint32_t count = 0;

	while (t->ring->slot[t->ring->taken % GMOD_RING_SLOTS].sequence == t->ring->taken + 1) {
		struct test_finding f = {.said = t->ring->slot[t->ring->taken % GMOD_RING_SLOTS]};

		assert_true(gmod_device_finding_is_sane(key, &f.said));
		if (f.said.class_ == GMOD_DEVICE_CORRUPT)
			assert_true(gmod_device_judge(key, &f.said, &f.verdict));
		if (count < n)
			out[count] = f;
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
