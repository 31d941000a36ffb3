#include "lib/buffers/fence.h"

#include "lib/base/asked.h"
#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/lock.h"
#include "lib/buffers/peers.h"
#include "lib/context/capture.h"
#include "lib/driver/mapping.h"

#define HOLE GMOD_MAPPING_UNIT
/* So far apart new page tables take no memory of the device and no time; from 1 GiB on they do (measured). */
#define SPAN ((uint64_t)64 << 20)
/* What the driver may reserve at most is less than 64 TiB; a limit of the process's may be lower. */
#define MOST_ADDRESSES ((uint64_t)16 << 40)
#define LEAST_ADDRESSES ((uint64_t)1 << 30)

enum { SPANS = 16, GONE_MOST = 32768, KEPT = 4096, IDLE_MOST = 512 };

static atomic_flag lock = ATOMIC_FLAG_INIT; /* for all below but the counts */
static uint64_t first, next, end;           /* of the reservation; all 0: none yet, or none to be had */
/* By the size of their spans: addresses that are free, the oldest first. In spans from the first one on. */
static struct {
	uint32_t at[GONE_MOST];
	uint64_t first, next;
} gone[SPANS];
static struct gmod_fenced idle[IDLE_MOST]; /* size 0: none */

static struct gmod_cap mapped, resting; /* all bytes, and idle ones */

/* ---- addresses ---- */

static unsigned span_of(uint64_t size)
{
	unsigned s = 0;

	while (s < SPANS && SPAN << s < size + 2 * HOLE)
		s++;
	return s;
}

/* Of a block in its span: in the middle, so that as much is unmapped before it as behind it. */
static uint64_t inset_of(unsigned span, uint64_t size)
{
	return ((SPAN << span) - size) / 2 / HOLE * HOLE;
}

static void reserve_addresses(void)
{
	CUdeviceptr at = 0;
	uint64_t size = MOST_ADDRESSES;

	while (NEXT(cuMemAddressReserve)(&at, size, GMOD_MAPPING_UNIT, 0, 0) != CUDA_SUCCESS)
		if ((size /= 4) < LEAST_ADDRESSES)
			return;
	first = next = at;
	end = at + size;
}

static uint64_t pop_addresses(unsigned span)
{
	return first + gone[span].at[gone[span].first++ % GONE_MOST] * SPAN;
}

/* 0: there are none. */
static uint64_t take_addresses(uint64_t size)
{
	unsigned span = span_of(size);
	uint64_t at = 0, free;

	if (span == SPANS || !gmod_lock(&lock))
		return 0;
	free = gone[span].next - gone[span].first;
	if (free <= KEPT && next + (SPAN << span) <= end) {
		at = next;
		next += SPAN << span;
	} else if (free) {
		at = pop_addresses(span);
	}
	gmod_unlock(&lock);
	return at ? at + inset_of(span, size) : 0;
}

/* Where there are too many, the oldest are not used again. */
static void give_addresses(const struct gmod_fenced *b)
{
	unsigned span = span_of(b->size);

	if (!gmod_lock(&lock))
		return;
	if (gone[span].next - gone[span].first == GONE_MOST)
		gone[span].first++;
	gone[span].at[gone[span].next++ % GONE_MOST] = (uint32_t)((b->at - inset_of(span, b->size) - first) / SPAN);
	gmod_unlock(&lock);
}

/* The lock is not held across the driver's call: others wait until the first has made it, or for a second. */
static bool has_addresses(void)
{
	static _Atomic int state; /* 0: not asked for, 1: by somebody, 2: done */
	uint64_t deadline = GMOD_SECONDS(1);
	int before = 0;

	if (atomic_compare_exchange_strong_explicit(&state, &before, 1, memory_order_acquire, memory_order_acquire)) {
		reserve_addresses();
		/* release: the reservation is there */
		atomic_store_explicit(&state, 2, memory_order_release);
	}
	while (before == 1 && atomic_load_explicit(&state, memory_order_relaxed) == 1 &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10))
		;
	return atomic_load_explicit(&state, memory_order_acquire) == 2 && first;
}

/* ---- memory ---- */

/* In KiB. */
static unsigned ask_for_most(int device)
{
	size_t available = 0, total;

	(void)device;
	if (gmod_options()->fence_mb)
		return gmod_options()->fence_mb << 10;
	if (NEXT(cuMemGetInfo_v2)(&available, &total) != CUDA_SUCCESS)
		gmod_degraded("cuMemGetInfo");
	return (unsigned)(available / 4 >> 10);
}

static unsigned ask_for_idle(int device)
{
	return gmod_ask_once(&mapped.most, device, ask_for_most) / 8;
}

/* The first idle block of the device, of any size where size is 0. */
static bool take_idle(struct gmod_fenced *b)
{
	bool found = false;

	if (!gmod_fence_idle_bytes(b->device) || !gmod_lock(&lock))
		return false;
	for (unsigned i = 0; i < IDLE_MOST && !found; i++) {
		found = idle[i].size && idle[i].device == b->device && (!b->size || idle[i].size == b->size);
		if (found) {
			*b = idle[i];
			idle[i].size = 0;
		}
	}
	gmod_unlock(&lock);
	if (found)
		gmod_give(&resting, b->device, b->size);
	return found;
}

static bool map_block(struct gmod_fenced *b)
{
	CUstreamCaptureMode mode;
	bool ok;

	b->at = take_addresses(b->size);
	if (!b->at)
		return false;
	mode = gmod_relaxed_begin();
	ok = gmod_mapping_add(b->device, b->at, b->size) == CUDA_SUCCESS;
	gmod_relaxed_end(mode);
	if (!ok)
		give_addresses(b);
	return ok;
}

static void note_most(int device)
{
	uint64_t now = atomic_load_explicit(&mapped.taken[device], memory_order_relaxed) >> 20;
	uint64_t most = atomic_load_explicit(&gmod_counters.fence_mib, memory_order_relaxed);

	while (now > most && !atomic_compare_exchange_weak_explicit(&gmod_counters.fence_mib, &most, now,
								    memory_order_relaxed, memory_order_relaxed))
		;
}

bool gmod_fence_take(struct gmod_fenced *b, bool (*give_way)(int device))
{
	if (!has_addresses())
		return false;
	if (take_idle(b))
		return true;
	if (!gmod_take(&mapped, b->device, b->size, 1, ask_for_most) &&
	    (!give_way(b->device) || !gmod_take(&mapped, b->device, b->size, 1, ask_for_most))) {
		gmod_count(&gmod_counters.fence_capped, 1);
		return false;
	}
	if (map_block(b)) {
		note_most(b->device);
		return true;
	}
	gmod_give(&mapped, b->device, b->size);
	return false;
}

void gmod_fence_unmap(const struct gmod_fenced *b)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool ok = NEXT(cuMemUnmap)(b->at, b->size) == CUDA_SUCCESS;

	/* They may have been closed, or not. */
	if (gmod_peers_use(b->device)) {
		NEXT(cuMemUnmap)(b->at - HOLE, HOLE);
		NEXT(cuMemUnmap)(b->at + b->size, HOLE);
	}
	gmod_relaxed_end(mode);
	if (!ok) {
		gmod_degraded("cuMemUnmap");
		return;
	}
	give_addresses(b);
	gmod_give(&mapped, b->device, b->size);
}

void gmod_fence_idle(const struct gmod_fenced *b)
{
	bool put = false;

	if (gmod_take(&resting, b->device, b->size, 1, ask_for_idle)) {
		if (gmod_lock(&lock)) {
			for (unsigned i = 0; i < IDLE_MOST && !put; i++)
				if (!idle[i].size) {
					idle[i] = *b;
					put = true;
				}
			gmod_unlock(&lock);
		}
		if (!put)
			gmod_give(&resting, b->device, b->size);
	}
	if (!put)
		gmod_fence_unmap(b);
}

bool gmod_fence_take_place(const struct gmod_fenced *b, int device, CUstream stream)
{
	return !gmod_stream_is_blocking(stream) ||
	       (device == b->device && NEXT(cuMemsetD8Async)(b->at, 0, 1, stream) == CUDA_SUCCESS);
}

bool gmod_fence_trim(int device)
{
	struct gmod_fenced b = {.device = device};
	bool any = false;

	for (; take_idle(&b); b.size = 0) {
		gmod_fence_unmap(&b);
		any = true;
	}
	return any;
}

uint64_t gmod_fence_idle_bytes(int device)
{
	return device >= 0 && device < GMOD_DEVICES ? atomic_load_explicit(&resting.taken[device], memory_order_relaxed)
						    : 0;
}

/* ---- holes ---- */

/* One piece of memory lies in all holes: nobody is to find anything there. */
static bool get_spare(int device, CUmemGenericAllocationHandle *out)
{
	static _Atomic uint64_t spares[GMOD_DEVICES];
	uint64_t before = 0, fresh;

	*out = atomic_load_explicit(&spares[device], memory_order_acquire);
	if (*out)
		return true;
	if (gmod_mapping_create(device, HOLE, out) != CUDA_SUCCESS)
		return false;
	fresh = *out;
	if (!atomic_compare_exchange_strong_explicit(&spares[device], &before, fresh, memory_order_acq_rel,
						     memory_order_acquire)) {
		NEXT(cuMemRelease)(fresh);
		*out = before;
	}
	return true;
}

void gmod_fence_close(const struct gmod_fenced *b, uint64_t devices)
{
	CUmemGenericAllocationHandle memory;

	if (!get_spare(b->device, &memory)) {
		gmod_degraded("cuMemCreate");
		return;
	}
	/* Where it is there already, an error says so. */
	if (NEXT(cuMemMap)(b->at - HOLE, HOLE, 0, memory, 0) == CUDA_SUCCESS)
		gmod_count(&gmod_counters.fence_closed, 1);
	NEXT(cuMemMap)(b->at + b->size, HOLE, 0, memory, 0);
	if (gmod_mapping_open(b->at - HOLE, b->size + 2 * HOLE, devices | UINT64_C(1) << b->device) != CUDA_SUCCESS)
		gmod_degraded("cuMemSetAccess");
}
