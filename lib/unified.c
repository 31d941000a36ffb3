#include "lib/unified.h"

#include "lib/start.h"

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
	CUstreamCaptureMode mode = gmod_relaxed_begin();

	keep_on_host(c, p->zone_head, p->body);
	keep_on_host(c, p->zone_tail, p->end);
	gmod_relaxed_end(mode);
}

/*
 * The driver takes the device memory while it issues the prefetch, not when the stream reaches it (measured: free
 * memory is down by 1 GiB when the call for 1 GiB returns), so nothing is pending once this has returned.
 */
uint64_t gmod_unified_place_body(struct gmod_context *c, const struct gmod_place *p)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	uint64_t size = p->zone_tail - p->body, unplaced = 0;

	advise(p->body, p->zone_tail, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, c->device);
	if (!c->stream || NEXT(cuMemPrefetchAsync)(p->body, size, c->device, c->stream) != CUDA_SUCCESS) {
		gmod_degraded("cuMemPrefetchAsync");
		unplaced = size;
		atomic_fetch_add_explicit(&c->unplaced, size, memory_order_relaxed);
	}
	gmod_relaxed_end(mode);
	return unplaced;
}

uint64_t gmod_unified_pending(const struct gmod_context *c)
{
	return atomic_load_explicit(&c->unplaced, memory_order_relaxed) +
	       atomic_load_explicit(&c->in_flight, memory_order_relaxed);
}

/*
 * Native allocations of 2 MiB and more take whole multiples of 2 MiB, and so does the driver's memory for managed
 * ones; a small one may need a fresh 2 MiB, or fit into one that is there although nothing is free. Where it is that
 * close the native allocator decides, so that the answer is the native one.
 */
enum gmod_fit gmod_unified_reserve(struct gmod_context *c, size_t size)
{
	size_t available = 0, total = 0;
	uint64_t before = atomic_fetch_add_explicit(&c->in_flight, size, memory_order_relaxed);
	uint64_t taken = before + atomic_load_explicit(&c->unplaced, memory_order_relaxed);

	if (NEXT(cuMemGetInfo_v2)(&available, &total) != CUDA_SUCCESS)
		return GMOD_FITS_NATIVELY;
	if (taken > available || size > available - taken)
		return size >= GMOD_LARGE ? GMOD_DOES_NOT_FIT : GMOD_FITS_NATIVELY;
	return available - taken - size >= 2 * GMOD_LARGE ? GMOD_FITS : GMOD_FITS_NATIVELY;
}

void gmod_unified_unreserve(struct gmod_context *c, size_t size)
{
	atomic_fetch_sub_explicit(&c->in_flight, size, memory_order_relaxed);
}
