/*
 * Managed memory, as in the paper: the body prefers the device, and canary pages prefer the host, where the device
 * writes to them across the bus and the CPU reads them by plain loads. For what the program asked for as managed, and
 * for device buffers that nothing better takes.
 *
 * No placement waits for the GPU, and none can fail the program: where one is refused the memory still works, only
 * slower, and the run is counted as degraded. With placement=0 none is asked for: pages then follow whoever touches
 * them, as the driver decides.
 */
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/base/asked.h"
#include "lib/buffers/backend.h"

static unsigned ask(int device)
{
	static atomic_bool said;
	int value = 0;

	if (gmod_options()->backend == GMOD_OPTION_BACKEND_NATIVE)
		return 0;
	if (NEXT(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device) == CUDA_SUCCESS &&
	    value)
		return 1;
	if (gmod_first_time(&said))
		gmod_log_note(0,
			      "device %d cannot share managed memory with the CPU (concurrentManagedAccess is 0): "
			      "its buffers are not guarded",
			      device);
	return 0;
}

static bool works(int device)
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

static void place_zones(const struct gmod_context *c, const struct gmod_place *p)
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
 * Bytes of live buffers of each context that were not moved to the device, and so are not in the driver's own accounts.
 * What the driver moves by itself later on is then in both: less seems free than is, never more.
 */
static _Atomic uint64_t unplaced_of[GMOD_CONTEXTS];

static _Atomic uint64_t *unplaced(const struct gmod_context *c)
{
	return &unplaced_of[gmod_context_index(c)];
}

static int64_t uncounted(const struct gmod_context *c)
{
	return -(int64_t)atomic_load_explicit(unplaced(c), memory_order_relaxed);
}

/*
 * The program's own managed memory may be more than the device has. What stands for device memory must not evict any;
 * the native call may, if it does not find as much otherwise.
 */
static enum gmod_answer ask_for_room(const struct gmod_request *q)
{
	if (q->memory == GMOD_MEM_HOST || !works(q->context->device))
		return GMOD_DECLINES;
	if (q->memory == GMOD_MEM_MANAGED ||
	    gmod_device_has(q->size + GMOD_MANAGED_SPARE +
			    atomic_load_explicit(unplaced(q->context), memory_order_relaxed)))
		return GMOD_ACCEPTS;
	return GMOD_LEAVES_NATIVE;
}

static enum gmod_answer alloc(struct gmod_request *q, uint64_t own[2], struct gmod_place *place)
{
	unsigned flags = q->memory == GMOD_MEM_MANAGED ? q->flags : CU_MEM_ATTACH_GLOBAL;
	enum gmod_answer answer = ask_for_room(q);
	struct gmod_layout l;
	CUdeviceptr raw;

	(void)own;
	if (answer != GMOD_ACCEPTS)
		return answer;
	if (!gmod_layout_device(q->size, gmod_page_size(), &l) ||
	    NEXT(cuMemAllocManaged)(&raw, l.total, flags) != CUDA_SUCCESS)
		return GMOD_FAILS;
	gmod_layout_place(&l, q->size, raw, place);
	/* Before the canaries are written: their pages stay on the host. */
	place_zones(q->context, place);
	return GMOD_ACCEPTS;
}

/*
 * The body, with the canary bytes of its slack. What is not on the device is not in the driver's own accounts; how much
 * that is, is the record's first word.
 */
static void arm(const struct gmod_request *q, struct gmod_record *r)
{
	const struct gmod_context *c = q->context;
	uint64_t from = r->bounds.head_to, to = r->bounds.tail_from;

	if (q->memory != GMOD_MEM_DEVICE || (gmod_options()->placement && move_to_device(c, from, to)))
		return;
	gmod_record_details(r)->own[0] = to - from;
	atomic_fetch_add_explicit(unplaced(c), to - from, memory_order_relaxed);
}

static void drop(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);

	if (d->memory == GMOD_MEM_DEVICE)
		atomic_fetch_sub_explicit(unplaced(d->context), d->own[0], memory_order_relaxed);
}

static CUresult give_back(struct gmod_record *r)
{
	CUresult result = NEXT(cuMemFree_v2)(gmod_record_details(r)->raw);

	if (result == CUDA_SUCCESS)
		drop(r);
	return result;
}

const struct gmod_backend gmod_backend_managed = {
    .name = "unified",
    .says = "unified, all buffers managed",
    .stands_in = true,
    .sees_body = true,
    .alloc = alloc,
    .arm = arm,
    .free = give_back,
    .drop = drop,
    .works = works,
    .uncounted = uncounted,
};
