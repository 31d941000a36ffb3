/*
 * What kernels make of a device heap in which any word may have been overwritten: state, chunk table, sets, entries,
 * buffers and ring. No call reads or writes outside the heap, each ends within a bounded number of steps, and what it
 * says is a finding that the host can read. GMOD_FUZZ_ROUNDS says how often (default: 30 000, a second).
 *
 * A millisecond passes each time that the clock is asked, so that nobody waits.
 */
#include <sys/time.h>
#include <time.h>

static int clock_fuzz(clockid_t clock, struct timespec *t);
#define clock_gettime clock_fuzz
#include "tests/unit/device_heap.h"
#undef clock_gettime

/* The last word of each set has bits that no chunk has. */
enum { CHUNKS = 60, GUARDS = 2, ROUNDS = 30000, LIFE = 300, HELD = 64, STEPS_MAX = 2000000 };

static struct test_heap heap;
static uint64_t seed = 1;
static uint8_t *held[HELD];
static uint64_t claims[GMOD_DEVICE_INVALID_FREE + 1];

static int clock_fuzz(clockid_t clock, struct timespec *t)
{
	static uint64_t ms;

	(void)clock;
	ms++;
	*t = (struct timespec){(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
	return 0;
}

FIXTURE(make)
{
	heap = heap_make(CHUNKS, GUARDS);
	memset(held, 0, sizeof(held));
	return 0;
}

FIXTURE(drop)
{
	heap_drop(&heap);
	return 0;
}

static uint64_t below(uint64_t n)
{
	return random_below(&seed, n);
}

static unsigned rounds(void)
{
	const char *said = getenv("GMOD_FUZZ_ROUNDS");

	return said ? (unsigned)strtoul(said, NULL, 10) : ROUNDS;
}

/* ---- what is overwritten ---- */

struct part {
	void *at;
	size_t size;
};

static struct part any_part(void)
{
	char *metadata = (char *)heap.state, *chunks = (char *)(uintptr_t)gmod_unit_heap.base;
	struct part parts[] = {
	    {metadata, sizeof(*heap.state)},
	    {metadata + heap.layout.chunk_table, CHUNKS * sizeof(struct gmod_chunk)},
	    {metadata + heap.layout.sets, heap.layout.size - heap.layout.sets},
	    {heap.ring, sizeof(*heap.ring)},
	    {chunks + below(CHUNKS) * GMOD_CHUNK_SIZE, 4096}, /* entries, mostly */
	    {chunks, (size_t)CHUNKS * GMOD_CHUNK_SIZE},
	};

	return parts[below(SIZE_OF(parts))];
}

static uint64_t any_word(const struct part *p, uint64_t old)
{
	static const uint64_t extreme[] = {0, 1, 2, 255, INT32_MAX, UINT32_MAX, 1ull << 32, INT64_MAX, 1ull << 63};

	switch (below(6)) {
	case 0:
		return random64(&seed);
	case 1:
		return extreme[below(SIZE_OF(extreme))];
	case 2:
		return 0 - extreme[below(SIZE_OF(extreme))];
	case 3:
		return old ^ 1ull << below(64);
	case 4:
		return old + below(5) - 2;
	default:
		return ((uint64_t *)p->at)[below(p->size / 8)];
	}
}

static void scribble(void)
{
	struct part p = any_part();
	uint64_t *words = p.at, n = below(8) ? 1 + below(4) : 64;

	for (uint64_t i = below(p.size / 8); n && i < p.size / 8; i++, n--)
		words[i] = any_word(&p, words[i]);
}

/* ---- what is called then ---- */

static bool is_inside(const uint8_t *p, uint64_t size)
{
	uint64_t at = (uint64_t)(uintptr_t)p - gmod_unit_heap.base, all = (uint64_t)CHUNKS * GMOD_CHUNK_SIZE;

	return at < all && size <= all - at;
}

static uint64_t any_size(void)
{
	switch (below(8)) {
	case 0:
		return below(CHUNKS * GMOD_CHUNK_SIZE);
	case 1:
		return random64(&seed) >> below(64);
	case 2:
		return below(40000);
	default:
		return below(600);
	}
}

static void allocate(void)
{
	uint64_t size = any_size(), align = 16ull << below(8) * below(2);
	uint8_t **p = &held[below(HELD)];

	*p = gmod_heap_malloc(size, align);
	if (!*p)
		return;
	CHECK(is_inside(*p, size), "%llu bytes at %p", (unsigned long long)size, (void *)*p);
	memset(*p, 0x11, size);
}

static void release(void)
{
	uint8_t **p = &held[below(HELD)];

	switch (below(10)) {
	case 0:
		gmod_heap_free((void *)(uintptr_t)random64(&seed));
		break;
	case 1:
		gmod_heap_free((void *)(uintptr_t)(gmod_unit_heap.base + below(CHUNKS * GMOD_CHUNK_SIZE) / 16 * 16));
		break;
	default:
		if (!*p)
			break;
		gmod_heap_free(*p);
		*p = below(20) ? NULL : *p;
	}
}

static void look(void)
{
	uint8_t *p = held[below(HELD)];

	gmod_heap_size_of(p ? p : (uint8_t *)(uintptr_t)random64(&seed));
	if (below(2))
		guard_pass(&heap);
}

/* The host's half is test_device_shared's. */
static void take(void)
{
	struct gmod_device_finding f;

	for (int i = 0; i < GMOD_RING_SLOTS; i++) {
		f = heap.ring->slot[i];
		if (f.sequence && gmod_device_finding_is_sane((const uint64_t *)gmod_unit_heap.key, &f))
			claims[f.class_]++;
		heap.ring->slot[i].sequence = 0;
	}
	heap.ring->taken = heap.state->findings;
}

static void call(void)
{
	static void (*const calls[])(void) = {allocate, allocate, release, release, look, take};
	uint64_t before = cpu_steps;

	calls[below(SIZE_OF(calls))]();
	CHECK(cpu_steps - before < STEPS_MAX, "%llu steps", (unsigned long long)(cpu_steps - before));
}

/* A call that does not end is ended by SIGPROF: by CPU time, because beside other work a short call takes long. */
static void limit_call(time_t cpu_seconds)
{
	struct itimerval limit = {.it_value.tv_sec = cpu_seconds};

	setitimer(ITIMER_PROF, &limit, NULL);
}

static void live(unsigned scribbles_in_100)
{
	for (unsigned i = 0; i < rounds(); i++) {
		if (i % LIFE == 0) {
			drop(NULL);
			make(NULL);
		}
		if (below(100) < scribbles_in_100)
			scribble();
		limit_call(20);
		call();
	}
	limit_call(0);
}

TEST_FIXTURE(any_word_may_be_overwritten, make, drop)
{
	live(30);
	assert_true(claims[GMOD_DEVICE_CORRUPT] > 0);
}

TEST_FIXTURE(every_word_is_overwritten, make, drop)
{
	live(100);
}
