#include "lib/buffers/mapped.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "lib/buffers/asked.h"
#include "lib/buffers/unified.h"
#include "lib/driver/errors.h"
#include "lib/context/capture.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "monitor/watch/postmortem.h"

#define ARMING_PATIENCE (GMOD_MILLISECONDS(1) / 2)
#define ARMING_PATIENCE_SMALL GMOD_MILLISECONDS(5)

static _Atomic unsigned mapped_now;
static _Atomic uint64_t let_in[GMOD_DEVICES]; /* by owner: the devices whose contexts may use its memory, a bit each */

static int attribute(int device, CUdevice_attribute which)
{
	int value = 0;

	return NEXT(cuDeviceGetAttribute)(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static CUmemLocation on_device(int device)
{
	return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

/* Native device memory can be used by network adapters where the platform allows it, and so can this. */
static CUmemAllocationProp properties(int device)
{
	CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = on_device(device)};

	p.allocFlags.gpuDirectRDMACapable =
	    attribute(device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) != 0;
	return p;
}

static bool driver_has_it(void)
{
	return HAVE(cuMemAddressReserve) && HAVE(cuMemAddressFree) && HAVE(cuMemCreate) && HAVE(cuMemRelease) &&
	       HAVE(cuMemMap) && HAVE(cuMemUnmap) && HAVE(cuMemSetAccess) && HAVE(cuMemGetAllocationGranularity) &&
	       HAVE(cuMemHostRegister_v2) && HAVE(cuMemHostUnregister);
}

bool gmod_mapped_is_possible(int device)
{
	CUmemAllocationProp p;
	size_t granularity = 0;

	if (device < 0 || device >= GMOD_DEVICES || !driver_has_it() ||
	    !attribute(device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) ||
	    !attribute(device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) ||
	    !attribute(device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM))
		return false;
	p = properties(device);
	if (NEXT(cuMemGetAllocationGranularity)(&granularity, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS)
		gmod_degraded("cuMemGetAllocationGranularity");
	return granularity && GMOD_LARGE % granularity == 0;
}

static unsigned ask(int device)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool is = gmod_options()->mapped && gmod_unified_is_possible(device) && gmod_mapped_is_possible(device);

	gmod_relaxed_end(mode);
	return is;
}

bool gmod_mapped_works(const struct gmod_context *c)
{
	static struct gmod_asked asked;

	return c->stream && gmod_ask_once(&asked, c->device, ask);
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

/* Mapped, the memory lives until it is unmapped: its handle is not needed any more. */
CUresult gmod_mapped_body(int device, uint64_t body, size_t size)
{
	CUmemAllocationProp p = properties(device);
	CUmemAccessDesc access = {on_device(device), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle memory;
	CUresult r = NEXT(cuMemCreate)(&memory, size, &p, 0);

	if (r != CUDA_SUCCESS)
		return r;
	r = NEXT(cuMemMap)(body, size, 0, memory, 0);
	if (NEXT(cuMemRelease)(memory) != CUDA_SUCCESS)
		gmod_degraded("cuMemRelease");
	if (r != CUDA_SUCCESS)
		return r;
	r = NEXT(cuMemSetAccess)(body, size, &access, 1);
	if (r != CUDA_SUCCESS && NEXT(cuMemUnmap)(body, size) != CUDA_SUCCESS)
		gmod_degraded("cuMemUnmap");
	return r;
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
		r = gmod_mapped_body(device, p->body, p->zone_tail - p->body);
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

CUresult gmod_mapped_alloc(const struct gmod_context *c, const struct gmod_layout *layout, uint64_t *raw)
{
	CUdeviceptr base = 0;
	struct gmod_place p;
	CUresult r;

	if (atomic_fetch_add_explicit(&mapped_now, 1, memory_order_relaxed) >= GMOD_MAPPED_MAX ||
	    NEXT(cuMemAddressReserve)(&base, layout->total, GMOD_LARGE, 0, 0) != CUDA_SUCCESS) {
		atomic_fetch_sub_explicit(&mapped_now, 1, memory_order_relaxed);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	gmod_layout_place(layout, 0, base, &p);
	r = fill_reservation(c->device, &p);
	if (r == CUDA_SUCCESS)
		*raw = base;
	else
		free_reservation(base, layout->total);
	return r;
}

void gmod_mapped_drop(const struct gmod_mapped_block *b)
{
	close_page(b->zone_head);
	close_page(b->zone_tail);
	if (NEXT(cuMemUnmap)(b->body, b->zone_tail - b->body) != CUDA_SUCCESS) {
		gmod_degraded("cuMemUnmap");
		return;
	}
	free_reservation(b->raw, b->total);
}

/* What a native free answers too: the context is broken or gone, the driver has shut down, a capture is under way. */
static bool is_an_answer(CUresult r)
{
	return gmod_is_sticky(r) || r == CUDA_ERROR_NOT_INITIALIZED || r == CUDA_ERROR_DEINITIALIZED ||
	       gmod_context_is_gone(r) || gmod_is_capture_error(r);
}

static CUresult unregister_zones(const struct gmod_mapped_block *b)
{
	CUresult r = NEXT(cuMemHostUnregister)(at(b->zone_head));

	if (is_an_answer(r))
		return r;
	if (r != CUDA_SUCCESS)
		gmod_degraded("cuMemHostUnregister");
	if (NEXT(cuMemHostUnregister)(at(b->zone_tail)) != CUDA_SUCCESS)
		gmod_degraded("cuMemHostUnregister");
	return CUDA_SUCCESS;
}

/* The zones are registered in the buffer's context; a native free needs no current one at all. */
CUresult gmod_mapped_free(const struct gmod_context *c, const struct gmod_mapped_block *b)
{
	bool visited = gmod_context_visit_begin(c);
	CUresult r = unregister_zones(b);

	gmod_context_visit_end(visited);
	if (r == CUDA_SUCCESS)
		gmod_mapped_drop(b);
	return r;
}

/* ---- slack: device memory, so it is written and read by copies ---- */

static bool send(const struct gmod_context *c, const struct gmod_canary *canary, uint64_t from, uint64_t to)
{
	uint8_t bytes[GMOD_HEAD_SLACK];

	if (from == to)
		return true;
	gmod_canary_bytes(canary, from, to, bytes);
	/* From pageable memory: the driver has its own copy when this returns. */
	return NEXT(cuMemcpyHtoDAsync_v2)(from, bytes, to - from, c->stream) == CUDA_SUCCESS;
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

	while ((r = NEXT(cuStreamQuery)(c->stream)) == CUDA_ERROR_NOT_READY && gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began < deadline_ns)
		sched_yield();
	if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY)
		gmod_degraded("cuStreamQuery");
}

bool gmod_mapped_arm_slack(const struct gmod_context *c, const struct gmod_record *r)
{
	const struct gmod_canary *canary = gmod_record_details(r)->canary;
	const struct gmod_bounds *b = &r->bounds;
	CUstreamCaptureMode mode;
	bool ok;

	if (!gmod_has_slack(b))
		return true;
	mode = gmod_relaxed_begin();
	ok = send(c, &canary[GMOD_HEAD], gmod_slack_from(b), b->user) &&
	     send(c, &canary[GMOD_TAIL], b->user + b->size, b->tail_from);
	if (ok)
		wait_a_little(c, b->size < GMOD_LARGE ? ARMING_PATIENCE_SMALL : ARMING_PATIENCE);
	gmod_relaxed_end(mode);
	return ok;
}

/* To pageable memory: the bytes are there when the copy returns. */
static bool receive(const struct gmod_context *c, void *to, uint64_t from, uint64_t end)
{
	return from == end || NEXT(cuMemcpyDtoHAsync_v2)(to, from, end - from, c->stream) == CUDA_SUCCESS;
}

bool gmod_mapped_read_slack(const struct gmod_record *r, struct gmod_slack *out)
{
	const struct gmod_context *c = gmod_record_details(r)->context;
	const struct gmod_bounds *b = &r->bounds;

	return receive(c, out->head, gmod_slack_from(b), b->user) &&
	       receive(c, out->tail, b->user + b->size, b->tail_from);
}

/* ---- peers ---- */

static void let(uint64_t readers, const struct gmod_bounds *b)
{
	CUmemAccessDesc access[GMOD_DEVICES];
	size_t count = 0;

	for (int i = 0; i < GMOD_DEVICES; i++)
		if (readers >> i & 1)
			access[count++] = (CUmemAccessDesc){on_device(i), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	if (NEXT(cuMemSetAccess)(b->head_to, b->tail_from - b->head_to, access, count) != CUDA_SUCCESS)
		gmod_degraded("cuMemSetAccess");
}

/*
 * A publisher makes its record LIVE and then looks at the readers; a new reader is noted before the records are
 * walked (both seq_cst): one of the two sees the other. Both may: letting in twice does no harm.
 */
void gmod_mapped_let_peers_in(const struct gmod_record *r)
{
	uint64_t readers;

	atomic_thread_fence(memory_order_seq_cst);
	readers = atomic_load_explicit(&let_in[gmod_record_details(r)->device], memory_order_relaxed);
	if (readers)
		let(readers, &r->bounds);
}

static void let_into(uint32_t position, int owner, uint64_t readers)
{
	struct gmod_record *r = gmod_record_at(position);

	/* Pinned, the mapping stays: a free of it waits. */
	gmod_pin(GMOD_PIN_PEERS, position);
	if (gmod_record_live(r) && gmod_record_details(r)->mapped && gmod_record_details(r)->device == owner)
		let(readers, &r->bounds);
	gmod_unpin(GMOD_PIN_PEERS);
}

void gmod_mapped_let_in(int reader, int owner)
{
	static pthread_mutex_t one_walks = PTHREAD_MUTEX_INITIALIZER; /* a pin has one owner */
	uint64_t bit = (uint64_t)1 << (reader & (GMOD_DEVICES - 1));
	uint32_t end;

	if (reader < 0 || reader >= GMOD_DEVICES || owner < 0 || owner >= GMOD_DEVICES || reader == owner)
		return;
	atomic_fetch_or_explicit(&let_in[owner], bit, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	end = gmod_registry_used();
	pthread_mutex_lock(&one_walks);
	for (uint32_t i = 0; i < end; i++)
		let_into(i, owner, bit);
	pthread_mutex_unlock(&one_walks);
}
