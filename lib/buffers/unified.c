#include "lib/buffers/unified.h"

#include "lib/base/facts.h"

/* Advice by the oldest entry point, which every driver has; -1 is the CPU. */
static void advise(uint64_t from, uint64_t to, CUmem_advise advice, CUdevice device)
{
	if (NEXT(cuMemAdvise)(from, to - from, advice, device) != CUDA_SUCCESS)
		gmod_degraded("cuMemAdvise");
}

static void keep_on_host(const struct gmod_context *c, uint64_t from, uint64_t to)
{
	advise(from, to, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU);
	advise(from, to, CU_MEM_ADVISE_SET_ACCESSED_BY, c->device);
}

void gmod_unified_place_zones(struct gmod_context *c, const struct gmod_place *p)
{
	CUstreamCaptureMode mode;

	if (!gmod_options()->placement)
		return;
	mode = gmod_relaxed_begin();
	keep_on_host(c, p->zone_head, p->body);
	keep_on_host(c, p->zone_tail, p->end);
	gmod_relaxed_end(mode);
}

/*
 * The driver takes the device memory while it issues the prefetch, not when the stream reaches it (measured: free
 * memory is down by 1 GiB when the call for 1 GiB returns), so nothing is pending once this has returned.
 */
static bool move_to_device(const struct gmod_context *c, uint64_t from, uint64_t to)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool moved;

	advise(from, to, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, c->device);
	moved = c->stream && NEXT(cuMemPrefetchAsync)(from, to - from, c->device, c->stream) == CUDA_SUCCESS;
	if (!moved)
		gmod_degraded("cuMemPrefetchAsync");
	gmod_relaxed_end(mode);
	return moved;
}

/*
 * What the driver moves by itself later on is then in its accounts and in ours: less seems free than is, never more.
 */
uint64_t gmod_unified_place_body(struct gmod_context *c, const struct gmod_place *p)
{
	uint64_t size = p->zone_tail - p->body;

	if (gmod_options()->placement && move_to_device(c, p->body, p->zone_tail))
		return 0;
	atomic_fetch_add_explicit(&c->unplaced, size, memory_order_relaxed);
	return size;
}

uint64_t gmod_unified_pending(const struct gmod_context *c)
{
	return atomic_load_explicit(&c->unplaced, memory_order_relaxed) +
	       atomic_load_explicit(&c->in_flight, memory_order_relaxed);
}

/*
 * The driver takes device memory for managed buffers in chunks and keeps some when they are freed: what it calls free
 * was up to 96 MiB less than what a buffer could get (measured on an H200 with 64 MiB to 8 GiB at a time, and with
 * 4000 x 1 MiB). Where it is that close, the native allocator decides, so that the answer is the native one; so it
 * does for small buffers, which may fit into a chunk that is there although nothing is free. But it would make room by
 * evicting managed buffers, without end: what is asked of it beyond what is free is kept to that amount in all, and to
 * what has been freed at all.
 */
static bool draw_over(struct gmod_context *c, uint64_t shortage)
{
	uint64_t before = atomic_fetch_add_explicit(&c->overdraft, shortage, memory_order_relaxed);
	uint64_t freed = atomic_load_explicit(&c->freed, memory_order_relaxed);

	if (before + shortage <= (freed < GMOD_MANAGED_SPARE ? freed : GMOD_MANAGED_SPARE))
		return true;
	atomic_fetch_sub_explicit(&c->overdraft, shortage, memory_order_relaxed);
	return false;
}

enum gmod_fit gmod_unified_reserve(struct gmod_context *c, size_t size, size_t spare)
{
	size_t available = 0, total = 0;
	uint64_t before = atomic_fetch_add_explicit(&c->in_flight, size, memory_order_relaxed);
	uint64_t taken = before + atomic_load_explicit(&c->unplaced, memory_order_relaxed);

	if (NEXT(cuMemGetInfo_v2)(&available, &total) != CUDA_SUCCESS)
		return GMOD_FITS_NATIVELY;
	available = available > taken ? available - taken : 0;
	if (size <= available && available - size >= spare) {
		atomic_store_explicit(&c->overdraft, 0, memory_order_relaxed);
		return GMOD_FITS;
	}
	return size <= available || draw_over(c, size - available) ? GMOD_FITS_NATIVELY : GMOD_DOES_NOT_FIT;
}

void gmod_unified_unreserve(struct gmod_context *c, size_t size)
{
	atomic_fetch_sub_explicit(&c->in_flight, size, memory_order_relaxed);
}
