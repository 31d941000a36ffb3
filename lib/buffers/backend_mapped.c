/*
 * Device buffers of GMOD_LARGE and more under backend=unified: the driver's own device memory, mapped between two
 * canary pages of host memory.
 *
 *     │<──────────────── one reservation of addresses, in multiples of 2 MiB ────────────────>│
 *     │ (nothing)   │ head page │ body: N x 2 MiB of device memory │ tail page │   (nothing) │
 *                       host                                           host
 *
 * The body is what cuMemCreate gives: not managed, never evicted, filled and copied at native speed, and counted in
 * cuMemGetInfo as natively. The driver keeps a reservation as inaccessible pages of this process; the two beside the
 * body are made accessible and registered as pinned host memory, at the same address for the device, which writes to
 * them across the bus while the CPU reads them by plain loads. All of it was tried on an H200, driver 580: kernels
 * store on both sides of either border, a copy or fill across a border is refused, cuMemHostRegister waits for
 * nothing (80 us beside a kernel) and is refused in a capture as cuMemAlloc is, cuMemHostUnregister waits as cuMemFree
 * does. A buffer costs no device memory beyond what a native one takes, two pages of the host, and 110 to 170 us to
 * allocate where native memory takes 40 to 110.
 *
 * Neither mapping nor memory belongs to a context, as natively they would: they are given back when it goes.
 */
#include <sys/mman.h>

#include "lib/base/asked.h"
#include "lib/base/facts.h"
#include "lib/buffers/backend.h"
#include "lib/context/capture.h"
#include "lib/driver/errors.h"
#include "lib/driver/mapping.h"

/* The buffers this process may have mapped at once: each splits the kernel's list of mappings in five places, and
 * Linux allows 65530 in all (vm.max_map_count). */
enum { MAPPED_MAX = 4096 };

static _Atomic unsigned mapped_now;

static unsigned ask_for_mappings(int device)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool is = gmod_mapping_is_possible(device) && HAVE(cuMemHostRegister_v2) && HAVE(cuMemHostUnregister) &&
		  gmod_device_attribute(device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) &&
		  gmod_device_attribute(device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);

	gmod_relaxed_end(mode);
	return is;
}

static bool works_on(int device)
{
	static struct gmod_asked asked;

	return gmod_ask_once(&asked, device, ask_for_mappings);
}

static void *pointer_to(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* The page is the driver's own reservation: it stays where it is, only what may be done with it changes. */
static bool open_page(uint64_t page)
{
	if (mprotect(pointer_to(page), gmod_page_size(), PROT_READ | PROT_WRITE))
		return false;
	/* A child's copy would take the page from under the device: what the parent writes next goes to a new one. */
	madvise(pointer_to(page), gmod_page_size(), MADV_DONTFORK);
	return true;
}

static void close_page(uint64_t page)
{
	madvise(pointer_to(page), gmod_page_size(), MADV_DONTNEED);
	madvise(pointer_to(page), gmod_page_size(), MADV_DOFORK);
	mprotect(pointer_to(page), gmod_page_size(), PROT_NONE);
}

static CUresult open_zone(uint64_t page)
{
	CUresult r;

	if (!open_page(page))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = NEXT(cuMemHostRegister_v2)(pointer_to(page), gmod_page_size(),
				       CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
	if (r != CUDA_SUCCESS)
		close_page(page);
	return r;
}

static void close_zone(uint64_t page)
{
	if (NEXT(cuMemHostUnregister)(pointer_to(page)) != CUDA_SUCCESS)
		gmod_degraded("cuMemHostUnregister");
	close_page(page);
}

/*
 * The zones come first: registering is what the driver refuses in a capture, as it refuses the program's cuMemAlloc,
 * and it is done under the program's own capture mode.
 */
static CUresult fill_reservation(int device, const struct gmod_place *p)
{
	CUresult r = open_zone(p->zone_head);

	if (r != CUDA_SUCCESS)
		return r;
	r = open_zone(p->zone_tail);
	if (r == CUDA_SUCCESS) {
		r = gmod_mapping_add(device, p->body, p->zone_tail - p->body);
		if (r == CUDA_SUCCESS)
			return r;
		close_zone(p->zone_tail);
	}
	close_zone(p->zone_head);
	return r;
}

static void free_reservation(uint64_t raw, size_t total)
{
	if (NEXT(cuMemAddressFree)(raw, total) != CUDA_SUCCESS)
		gmod_degraded("cuMemAddressFree");
	atomic_fetch_sub_explicit(&mapped_now, 1, memory_order_relaxed);
}

static enum gmod_answer alloc_buffer(struct gmod_request *q, struct gmod_place *place)
{
	const struct gmod_context *c = q->context;
	size_t total = gmod_layout_mapped_at(q->size, gmod_page_size(), 0, place);
	CUdeviceptr base = 0;

	if (q->memory != GMOD_MEM_DEVICE || q->size < GMOD_LARGE || !c->stream || !works_on(c->device) || !total)
		return GMOD_DECLINES;
	if (atomic_fetch_add_explicit(&mapped_now, 1, memory_order_relaxed) >= MAPPED_MAX ||
	    NEXT(cuMemAddressReserve)(&base, total, GMOD_LARGE, 0, 0) != CUDA_SUCCESS) {
		atomic_fetch_sub_explicit(&mapped_now, 1, memory_order_relaxed);
		return GMOD_DECLINES;
	}
	gmod_layout_mapped_at(q->size, gmod_page_size(), base, place);
	if (fill_reservation(c->device, place) == CUDA_SUCCESS)
		return GMOD_ACCEPTS;
	free_reservation(base, total);
	return GMOD_FAILS;
}

/* For a context that is gone, too. */
static void lose_buffer(struct gmod_record *r)
{
	struct gmod_place p;
	size_t total = gmod_layout_mapped_at(r->bounds.size, gmod_page_size(), gmod_record_details(r)->raw, &p);

	close_page(p.zone_head);
	close_page(p.zone_tail);
	if (NEXT(cuMemUnmap)(p.body, p.zone_tail - p.body) != CUDA_SUCCESS) {
		gmod_degraded("cuMemUnmap");
		return;
	}
	free_reservation(p.raw, total);
}

static CUresult unregister_zones(const struct gmod_place *p)
{
	CUresult r = NEXT(cuMemHostUnregister)(pointer_to(p->zone_head));

	if (gmod_is_answer_of_free(r))
		return r;
	if (r != CUDA_SUCCESS)
		gmod_degraded("cuMemHostUnregister");
	if (NEXT(cuMemHostUnregister)(pointer_to(p->zone_tail)) != CUDA_SUCCESS)
		gmod_degraded("cuMemHostUnregister");
	return CUDA_SUCCESS;
}

/*
 * It waits for the device as cuMemFree does, and an error that a native free would give leaves all as it was. The zones
 * are registered in the buffer's context; a native free needs no current one at all.
 */
static CUresult free_buffer(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);
	bool visited = gmod_context_visit_begin(d->context);
	struct gmod_place p;
	CUresult result;

	gmod_layout_mapped_at(r->bounds.size, gmod_page_size(), d->raw, &p);
	result = unregister_zones(&p);
	gmod_context_visit_end(visited);
	if (result == CUDA_SUCCESS)
		lose_buffer(r);
	return result;
}

static void let_in(const struct gmod_record *r, uint64_t devices)
{
	const struct gmod_bounds *b = &r->bounds;

	if (gmod_mapping_open(b->head_to, b->tail_from - b->head_to, devices) != CUDA_SUCCESS)
		gmod_degraded("cuMemSetAccess");
}

const struct gmod_backend gmod_backend_mapped = {
    .name = "unified",
    .choices = 1 << GMOD_OPTION_BACKEND_UNIFIED,
    .says = "unified, large buffers mapped",
    .alloc = alloc_buffer,
    .free = free_buffer,
    .lose = lose_buffer,
    .works = works_on,
    .open = let_in,
};
