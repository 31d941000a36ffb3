#include "lib/buffers/mapped.h"

#include <sched.h>
#include <sys/mman.h>

#include "lib/base/asked.h"
#include "lib/base/facts.h"
#include "lib/base/phase.h"
#include "lib/context/capture.h"
#include "lib/driver/errors.h"
#include "lib/driver/mapping.h"

#define ARMING_PATIENCE (GMOD_MILLISECONDS(1) / 2)
#define ARMING_PATIENCE_SMALL GMOD_MILLISECONDS(5)

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

bool gmod_mapped_has_room(void)
{
	return atomic_load_explicit(&mapped_now, memory_order_relaxed) < GMOD_MAPPED_MAX;
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

/* ---- slack: device memory, so it is written and read by copies ---- */

static bool send(const struct gmod_context *c, uint64_t from, uint64_t to, const void *bytes)
{
	/* From pageable memory: the driver has its own copy when this returns. */
	return from == to || NEXT(cuMemcpyHtoDAsync_v2)(from, bytes, to - from, c->stream) == CUDA_SUCCESS;
}

/*
 * Kernels the program launches next are not ordered behind our stream: the canaries should be there first. The copies
 * take 5 to 100 us, also on a device full of kernels (measured); behind the program's own large copies they may take
 * long, and an allocation must not wait for those. The few small buffers that are mapped are worth a longer wait: what
 * a kernel does to their slack before the canaries are there would not be found. Time that other threads have the CPU
 * does not count: some of them may be what moves the copies on.
 */
static void wait_a_little(const struct gmod_context *c, uint64_t deadline_ns)
{
	uint64_t began = gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	CUresult r;

	while ((r = NEXT(cuStreamQuery)(c->stream)) == CUDA_ERROR_NOT_READY &&
	       gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began < deadline_ns)
		sched_yield();
	if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY)
		gmod_degraded("cuStreamQuery");
}

bool gmod_mapped_arm(const struct gmod_request *q, struct gmod_record *r, const struct gmod_slack *slack)
{
	const struct gmod_bounds *b = &r->bounds;
	CUstreamCaptureMode mode;
	bool ok;

	if (!slack)
		return true;
	mode = gmod_relaxed_begin();
	ok = send(q->context, gmod_slack_from(b), b->user, slack->head) &&
	     send(q->context, b->user + b->size, b->tail_from, slack->tail);
	if (ok)
		wait_a_little(q->context, b->size < GMOD_LARGE ? ARMING_PATIENCE_SMALL : ARMING_PATIENCE);
	else
		gmod_degraded("cuMemcpyHtoDAsync");
	gmod_relaxed_end(mode);
	return ok;
}

/* To pageable memory: the bytes are there when the copy returns. */
static bool receive(const struct gmod_context *c, void *to, uint64_t from, uint64_t end)
{
	return from == end || NEXT(cuMemcpyDtoHAsync_v2)(to, from, end - from, c->stream) == CUDA_SUCCESS;
}

static bool read_slack(const struct gmod_record *r, struct gmod_slack *out)
{
	const struct gmod_context *c = gmod_record_details(r)->context;
	const struct gmod_bounds *b = &r->bounds;
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool ok = receive(c, out->head, gmod_slack_from(b), b->user) &&
		  receive(c, out->tail, b->user + b->size, b->tail_from);

	gmod_relaxed_end(mode);
	if (!ok)
		gmod_degraded("cuMemcpyDtoHAsync");
	return ok;
}

/* Without its slack, if that cannot be had, the rest. */
void gmod_mapped_look(struct gmod_record *r, struct gmod_moment swept)
{
	struct gmod_slack slack;
	bool read = gmod_has_slack(&r->bounds) && gmod_on() && read_slack(r, &slack);

	gmod_verify_released(r, read ? GMOD_VERIFY_COPIED : GMOD_VERIFY_VISIBLE, &slack, swept);
}

void gmod_mapped_open(const struct gmod_record *r, uint64_t devices)
{
	const struct gmod_bounds *b = &r->bounds;

	if (gmod_mapping_open(b->head_to, b->tail_from - b->head_to, devices) != CUDA_SUCCESS)
		gmod_degraded("cuMemSetAccess");
}
