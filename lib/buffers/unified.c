#include "lib/buffers/unified.h"

#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/buffers/accounts.h"
#include "lib/buffers/asked.h"

static void say_declined(int device)
{
	static atomic_bool said;

	if (gmod_first_time(&said))
		gmod_log_note(0,
			      "device %d cannot share managed memory with the CPU (concurrentManagedAccess is 0): "
			      "its buffers are not guarded",
			      device);
}

static unsigned ask(int device)
{
	int value = 0;

	if (gmod_options()->backend == GMOD_OPTION_BACKEND_NATIVE)
		return 0;
	if (NEXT(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device) == CUDA_SUCCESS &&
	    value)
		return 1;
	say_declined(device);
	return 0;
}

bool gmod_unified_is_possible(int device)
{
	static struct gmod_asked asked;

	return gmod_ask_once(&asked, device, ask);
}

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

uint64_t gmod_unified_place_body(struct gmod_context *c, const struct gmod_place *p)
{
	uint64_t size = p->zone_tail - p->body;

	if (gmod_options()->placement && move_to_device(c, p->body, p->zone_tail))
		return 0;
	gmod_accounts_unplaced(c, size);
	return size;
}

