/*
 * What the host reads of a device heap, every word of which kernels can write: header, arrays and ring hold anything.
 * GMOD_FUZZ_ROUNDS says how often (default: 20 000, half a second).
 */
#include "device/findings.h"
#include "device/stats.h"
#include "include/gmod/device_guard.h"
#include "device/verdict.h"
#include "monitor/registry/finding.h"
#include "tests/unit/reporting.h"
#include "tests/unit/support.h"

enum { CHUNKS = 64, GUARDS = 2, ROUNDS = 20000 };

_Thread_local struct gmod_cpu_thread gmod_cpu_thread;
struct gmod_device_heap gmod_unit_heap;

static struct gmod_context context;
static struct gmod_heap heap;
static struct gmod_device_ring ring;
static uint64_t *metadata;
static uint64_t seed = 1;

/* ---- a driver whose device is ordinary memory, and has no more of it ---- */

static CUresult copy_to_host(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
	(void)stream;
	memcpy(to, (const void *)from, size);
	return CUDA_SUCCESS;
}

static CUresult copy_to_device(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
	(void)stream;
	memcpy((void *)to, from, size);
	return CUDA_SUCCESS;
}

static CUresult synchronize(CUstream stream)
{
	(void)stream;
	return CUDA_SUCCESS;
}

FIXTURE(make)
{
	gmod_driver.cuMemcpyDtoHAsync_v2 = copy_to_host;
	gmod_driver.cuMemcpyHtoDAsync_v2 = copy_to_device;
	gmod_driver.cuStreamSynchronize = synchronize;
	heap = (struct gmod_heap){.context = &context, .key = {1, 2}, .ring = &ring};
	assert_true(gmod_device_layout(CHUNKS, GUARDS, &heap.layout));
	heap.size = (size_t)CHUNKS * GMOD_CHUNK_SIZE;
	metadata = calloc(1, heap.layout.size);
	assert_non_null(metadata);
	heap.state = (uintptr_t)metadata;
	memset(&ring, 0, sizeof(ring));
	gmod_unit_heap.key[0] = 1;
	gmod_unit_heap.key[1] = 2;
	gmod_unit_heap.ring = &ring;
	gmod_unit_heap.state = (struct gmod_heap_state *)(void *)metadata;
	start("");
	return 0;
}

FIXTURE(drop)
{
	free(metadata);
	return 0;
}

/* ---- what kernels write ---- */

static uint64_t any_word(void)
{
	static const uint64_t extreme[] = {0, 1, 2, 15, 255, 256, 257, INT32_MAX, UINT32_MAX, INT64_MAX, 1ull << 63};
	uint64_t some = extreme[random_below(&seed, SIZE_OF(extreme))];

	switch (random_below(&seed, 5)) {
	case 0:
		return random64(&seed);
	case 1:
		return some;
	case 2:
		return 0 - some;
	case 3:
		return heap.taken + some;
	default:
		return heap.taken - some;
	}
}

static void scribble(void *at, size_t size)
{
	for (size_t i = 0; i < size / 8; i++)
		((uint64_t *)at)[i] = any_word();
}

static unsigned rounds(void)
{
	const char *said = getenv("GMOD_FUZZ_ROUNDS");

	return said ? (unsigned)strtoul(said, NULL, 10) : ROUNDS;
}

static void check_stats(void)
{
	struct gmod_device_stats s = {0};

	assert_true(gmod_heap_stats(&heap, &s));
	CHECK(s.used_bytes <= s.committed_bytes && s.peak_bytes <= s.committed_bytes, "used %llu",
	      (unsigned long long)s.used_bytes);
	CHECK(s.live_buffers < 1ull << 32 && s.live_bytes <= 1ull << 48 && s.high_water_buffers < 1ull << 32 &&
		  s.high_water_bytes <= 1ull << 48,
	      "live %llu, %llu bytes", (unsigned long long)s.live_buffers, (unsigned long long)s.live_bytes);
	CHECK(s.waiting_buffers < 1ull << 33 && s.damaged_entries < 1ull << 33 && s.released_buffers < 1ull << 54,
	      "waiting %llu", (unsigned long long)s.waiting_buffers);
	gmod_heap_update_stats(&heap);
}

/* As if the next finding had been missing for long enough. */
static void take(void)
{
	uint64_t before = heap.taken;

	heap.stuck_ns = 1;
	gmod_findings_take(&heap);
	CHECK(heap.taken - before <= 2 * GMOD_RING_SLOTS, "%llu findings at once",
	      (unsigned long long)(heap.taken - before));
}

TEST_FIXTURE(nothing_is_made_of_what_kernels_write, make, drop)
{
	for (unsigned i = 0; i < rounds(); i++) {
		scribble(metadata, sizeof(struct gmod_heap_state));
		scribble(&ring, offsetof(struct gmod_device_ring, slot));
		scribble(&ring.slot[heap.taken % GMOD_RING_SLOTS], sizeof(ring.slot[0]));
		ring.slot[heap.taken % GMOD_RING_SLOTS].sequence = heap.taken + 1;
		take();
		check_stats();
	}
	assert_int_equal(gmod_finding_count(), 0);
}

static bool is_plausible(const struct gmod_device_finding *f)
{
	struct gmod_verdict v;

	if (f->class_ != GMOD_DEVICE_CORRUPT)
		return f->class_ == GMOD_DEVICE_DOUBLE_FREE || f->class_ == GMOD_DEVICE_INVALID_FREE;
	return gmod_device_judge(heap.key, f, &v) && v.first >= -GMOD_HEAD_SIZE && v.first <= v.last &&
	       v.last < (int64_t)v.size + GMOD_TAIL_MAX + 8 && v.count <= GMOD_OBSERVED_MAX && v.changed > 0;
}

/* Words in a finding that can be those of a buffer. */
static void make_plausible(struct gmod_device_finding *f)
{
	uint64_t size = random_below(&seed, 1000), last;

	f->user = random64(&seed) >> 20 << 4;
	f->word = size << 28 | (random64(&seed) & 0xffffff0) | (GMOD_ENTRY_LIVE + random_below(&seed, 3));
	last = f->user + size;
	f->end = (last & ~7ull) + 8 * random_below(&seed, GMOD_TAIL_MAX / 8 + 3);
}

/* As gmod_say() seals it, of any number of words. */
static void reseal(struct gmod_device_finding *f)
{
	for (uint32_t words = 0; words <= GMOD_FINDING_WORDS; words++) {
		f->seal = gmod_finding_seal((const gmod_u64 *)heap.key, f, words);
		if (gmod_device_finding_is_sane(heap.key, f))
			return;
	}
}

/* Who has read the key can seal what it likes: that is reported, where it could be, and harms nobody. */
TEST_FIXTURE(forged_findings_do_no_harm, make, drop)
{
	for (unsigned i = 0; i < rounds() / 10; i++) {
		struct gmod_device_finding *f = &ring.slot[heap.taken % GMOD_RING_SLOTS];
		unsigned before = gmod_finding_count();

		scribble(f, sizeof(*f));
		f->class_ = random_below(&seed, GMOD_DEVICE_INVALID_FREE + 2);
		if (i % 2)
			make_plausible(f);
		f->sequence = heap.taken + 1;
		reseal(f);
		take();
		CHECK(gmod_finding_count() == before || is_plausible(f), "word %llx, end %llx", f->word, f->end);
	}
	assert_true(gmod_finding_count() > 100);
}

/* Whatever becomes of the counts, the next finding but one comes out. */
TEST_FIXTURE(counts_are_put_right, make, drop)
{
	struct gmod_heap_state *d = gmod_unit_heap.state;
	struct gmod_buffer b = {.asked = 16};
	unsigned said;

	for (unsigned i = 0; i < 1000; i++) {
		d->findings = any_word();
		ring.said = any_word();
		gmod_say(GMOD_DEVICE_INVALID_FREE, &b, true);
		take();
		take();
		said = gmod_finding_count();
		CHECK(gmod_say(GMOD_DEVICE_INVALID_FREE, &b, true), "taken %llu, findings %llu",
		      (unsigned long long)heap.taken, d->findings);
		take();
		CHECK(gmod_finding_count() == said + 1, "taken %llu", (unsigned long long)heap.taken);
	}
}

/* A finding has its number before it is there: nobody passes it over meanwhile. */
TEST_FIXTURE(what_is_on_its_way_is_waited_for, make, drop)
{
	struct gmod_device_finding f = {.class_ = GMOD_DEVICE_INVALID_FREE, .user = 16, .sequence = 1};
	unsigned before = gmod_finding_count();

	assert_int_equal(gmod_ring_reserve(), 1);
	ring.said = 1;
	take();
	assert_int_equal(heap.taken, 0);
	f.seal = gmod_finding_seal((const gmod_u64 *)heap.key, &f, 0);
	ring.slot[0] = f;
	take();
	assert_int_equal(gmod_finding_count(), before + 1);
	/* and one that is never there, not for ever */
	assert_int_equal(gmod_ring_reserve(), 2);
	ring.said = 2;
	take();
	take();
	assert_int_equal(heap.taken, 2);
}
