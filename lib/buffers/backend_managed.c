/*
 * Managed memory, as in the paper: the body prefers the device, and canary pages prefer the host, where the device
 * writes to them across the bus and the CPU reads them by plain loads. For what the program asked for as managed, and
 * under backend=managed for device buffers.
 *
 * No placement waits for the GPU, and none can fail the program: where one is refused the memory still works, only
 * slower, and the run is counted as degraded.
 */
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/base/asked.h"
#include "lib/buffers/backend.h"

static unsigned ask_for_access(int device)
{
	static atomic_bool said;
	int value = 0;

	if (NEXT(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device) != CUDA_SUCCESS)
		gmod_degraded("cuDeviceGetAttribute");
	if (value)
		return 1;
	if (gmod_first_time(&said))
		gmod_log_note(gmod_options()->backend == GMOD_OPTION_BACKEND_MANAGED ? 0 : 2,
			      "device %d cannot share managed memory with the CPU (concurrentManagedAccess is 0): "
			      "it is not guarded",
			      device);
	return 0;
}

static bool can_share(int device)
{
	static struct gmod_asked asked;

	return gmod_ask_once(&asked, device, ask_for_access);
}

static bool works_on(int device)
{
	return gmod_options()->backend == GMOD_OPTION_BACKEND_MANAGED && can_share(device);
}

/* Advice by the oldest entry point, which every driver has; -1 is the CPU. */
static void advise_range(uint64_t from, uint64_t to, CUmem_advise advice, CUdevice device)
{
	if (NEXT(cuMemAdvise)(from, to - from, advice, device) != CUDA_SUCCESS)
		gmod_degraded("cuMemAdvise");
}

static void keep_on_host(const struct gmod_context *c, uint64_t from, uint64_t to)
{
	advise_range(from, to, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU);
	advise_range(from, to, CU_MEM_ADVISE_SET_ACCESSED_BY, c->device);
}

static void place_zones(const struct gmod_context *c, const struct gmod_place *p)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();

	keep_on_host(c, p->zone_head, p->body);
	keep_on_host(c, p->zone_tail, p->end);
	gmod_relaxed_end(mode);
}

static void move_to_device(const struct gmod_context *c, uint64_t from, uint64_t to)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();

	advise_range(from, to, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, c->device);
	if (!c->stream || NEXT(cuMemPrefetchAsync)(from, to - from, c->device, c->stream) != CUDA_SUCCESS)
		gmod_degraded("cuMemPrefetchAsync");
	gmod_relaxed_end(mode);
}

/* What stands for device memory must not evict any: there, the native call decides, which may find room otherwise. */
static bool is_accepted(const struct gmod_request *q)
{
	size_t available = 0, total = 0;

	if (q->memory == GMOD_MEM_MANAGED)
		return can_share(q->context->device);
	return q->memory == GMOD_MEM_DEVICE && works_on(q->context->device) &&
	       NEXT(cuMemGetInfo_v2)(&available, &total) == CUDA_SUCCESS && q->size <= available;
}

static enum gmod_answer alloc_buffer(struct gmod_request *q, struct gmod_place *place)
{
	unsigned flags = q->memory == GMOD_MEM_MANAGED ? q->flags : CU_MEM_ATTACH_GLOBAL;
	struct gmod_layout l;
	CUdeviceptr raw;

	if (!is_accepted(q))
		return GMOD_DECLINES;
	if (!gmod_layout_device(q->size, gmod_page_size(), &l) ||
	    NEXT(cuMemAllocManaged)(&raw, l.total, flags) != CUDA_SUCCESS)
		return GMOD_FAILS;
	gmod_layout_place(&l, q->size, raw, place);
	/* Before the canaries are written: their pages stay on the host. */
	place_zones(q->context, place);
	return GMOD_ACCEPTS;
}

/* The body, with the canary bytes of its slack. */
static void arm_buffer(const struct gmod_request *q, struct gmod_record *r)
{
	if (q->memory == GMOD_MEM_DEVICE)
		move_to_device(q->context, r->bounds.head_to, r->bounds.tail_from);
}

const struct gmod_backend gmod_backend_managed = {
    .name = "managed",
    .says = "managed",
    .sees_body = true,
    .alloc = alloc_buffer,
    .arm = arm_buffer,
    .free = gmod_free_device,
    .works = works_on,
};
