#include "lib/buffers/mapped.h"

#include <sys/mman.h>

#include "lib/base/asked.h"
#include "lib/base/facts.h"
#include "lib/context/capture.h"
#include "lib/driver/errors.h"
#include "lib/driver/mapping.h"

static _Atomic unsigned mapped_now;

/* Where device buffers are not guarded as managed memory, these are not either. */
static unsigned ask(int device)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool is = gmod_backend_managed.works(device) && gmod_mapping_is_possible(device);

	gmod_relaxed_end(mode);
	return is;
}

bool gmod_mapped_works(int device)
{
	static struct gmod_asked asked;

	return gmod_options()->mapped && gmod_ask_once(&asked, device, ask);
}

bool gmod_mapped_takes_more(const struct gmod_context *c)
{
	return c->stream && gmod_mapped_works(c->device) &&
	       atomic_load_explicit(&mapped_now, memory_order_relaxed) < GMOD_MAPPED_MAX;
}

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* The page is the driver's own reservation: it stays where it is, only what may be done with it changes. */
static bool open_page(uint64_t page)
{
	if (mprotect(at(page), gmod_page_size(), PROT_READ | PROT_WRITE))
		return false;
	/* A child's copy would take the page from under the device: what the parent writes next goes to a new one. */
	madvise(at(page), gmod_page_size(), MADV_DONTFORK);
	return true;
}

static void close_page(uint64_t page)
{
	madvise(at(page), gmod_page_size(), MADV_DONTNEED);
	madvise(at(page), gmod_page_size(), MADV_DOFORK);
	mprotect(at(page), gmod_page_size(), PROT_NONE);
}

static CUresult open_zone(uint64_t page)
{
	CUresult r;

	if (!open_page(page))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = NEXT(cuMemHostRegister_v2)(at(page), gmod_page_size(),
				       CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
	if (r != CUDA_SUCCESS)
		close_page(page);
	return r;
}

static void close_zone(uint64_t page)
{
	if (NEXT(cuMemHostUnregister)(at(page)) != CUDA_SUCCESS)
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

CUresult gmod_mapped_alloc(const struct gmod_context *c, size_t size, struct gmod_place *out)
{
	size_t total = gmod_layout_mapped_at(size, gmod_page_size(), 0, out);
	CUdeviceptr base = 0;
	CUresult r;

	if (atomic_fetch_add_explicit(&mapped_now, 1, memory_order_relaxed) >= GMOD_MAPPED_MAX || !total ||
	    NEXT(cuMemAddressReserve)(&base, total, GMOD_LARGE, 0, 0) != CUDA_SUCCESS) {
		atomic_fetch_sub_explicit(&mapped_now, 1, memory_order_relaxed);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	gmod_layout_mapped_at(size, gmod_page_size(), base, out);
	r = fill_reservation(c->device, out);
	if (r != CUDA_SUCCESS)
		free_reservation(base, total);
	return r;
}

void gmod_mapped_drop(size_t size, uint64_t raw)
{
	struct gmod_place p;
	size_t total = gmod_layout_mapped_at(size, gmod_page_size(), raw, &p);

	close_page(p.zone_head);
	close_page(p.zone_tail);
	if (NEXT(cuMemUnmap)(p.body, p.zone_tail - p.body) != CUDA_SUCCESS) {
		gmod_degraded("cuMemUnmap");
		return;
	}
	free_reservation(raw, total);
}

/* What a native free answers too: the context is broken or gone, the driver has shut down, a capture is under way. */
static bool is_an_answer(CUresult r)
{
	return gmod_is_sticky(r) || r == CUDA_ERROR_NOT_INITIALIZED || r == CUDA_ERROR_DEINITIALIZED ||
	       gmod_context_is_gone(r) || gmod_is_capture_error(r);
}

static CUresult unregister_zones(const struct gmod_place *p)
{
	CUresult r = NEXT(cuMemHostUnregister)(at(p->zone_head));

	if (is_an_answer(r))
		return r;
	if (r != CUDA_SUCCESS)
		gmod_degraded("cuMemHostUnregister");
	if (NEXT(cuMemHostUnregister)(at(p->zone_tail)) != CUDA_SUCCESS)
		gmod_degraded("cuMemHostUnregister");
	return CUDA_SUCCESS;
}

/* The zones are registered in the buffer's context; a native free needs no current one at all. */
CUresult gmod_mapped_free(const struct gmod_context *c, size_t size, uint64_t raw)
{
	bool visited = gmod_context_visit_begin(c);
	struct gmod_place p;
	CUresult r;

	gmod_layout_mapped_at(size, gmod_page_size(), raw, &p);
	r = unregister_zones(&p);
	gmod_context_visit_end(visited);
	if (r == CUDA_SUCCESS)
		gmod_mapped_drop(size, raw);
	return r;
}

void gmod_mapped_open(const struct gmod_record *r, uint64_t devices)
{
	const struct gmod_bounds *b = &r->bounds;

	if (gmod_mapping_open(b->head_to, b->tail_from - b->head_to, devices) != CUDA_SUCCESS)
		gmod_degraded("cuMemSetAccess");
}
