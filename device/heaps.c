#include "device/heaps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "device/settings.h"
#include "include/gmod/device_slab.h"
#include "lib/base/log.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/map.h"
#include "monitor/watch/monitor.h"

enum { LEAST = 16 }; /* chunks: a MiB, what gmod_device_configure() takes at least */

bool gmod_heap_read(const struct gmod_heap *h, uint64_t from, void *to, size_t size)
{
	return NEXT(cuMemcpyDtoHAsync_v2)(to, from, size, h->copies) == CUDA_SUCCESS &&
	       NEXT(cuStreamSynchronize)(h->copies) == CUDA_SUCCESS;
}

bool gmod_heap_write(const struct gmod_heap *h, uint64_t to, const void *from, size_t size)
{
	return NEXT(cuMemcpyHtoDAsync_v2)(to, from, size, h->copies) == CUDA_SUCCESS &&
	       NEXT(cuStreamSynchronize)(h->copies) == CUDA_SUCCESS;
}

/* ---- making one ---- */

static uint64_t chunks_at(const struct gmod_heap *h)
{
	return (h->memory + GMOD_CHUNK_SIZE - 1) / GMOD_CHUNK_SIZE * GMOD_CHUNK_SIZE;
}

/* All of the metadata, on its way to the device, and what units are told. */
static bool send_metadata(struct gmod_heap *h, uint64_t ring)
{
	struct gmod_device_facts facts = {
	    .metadata = h->state,
	    .chunks = chunks_at(h),
	    .ring = ring,
	    .key = h->key,
	    .delay = gmod_options()->device_free_delay,
	};
	void *image = gmod_map(h->layout.size);
	bool sent;

	if (!image)
		return false;
	gmod_device_image(&h->layout, image);
	h->told = gmod_device_heap(&h->layout, &facts);
	sent = gmod_heap_write(h, h->state, image, h->layout.size);
	munmap(image, h->layout.size);
	return sent;
}

/* The ring, as the device sees it; 0: no memory. */
static uint64_t ring_make(struct gmod_heap *h)
{
	CUdeviceptr device = 0;
	void *p = NULL;

	if (NEXT(cuMemHostAlloc)(&p, sizeof(*h->ring), CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS)
		return 0;
	h->ring = p;
	memset(p, 0, sizeof(*h->ring));
	return NEXT(cuMemHostGetDevicePointer_v2)(&device, p, 0) == CUDA_SUCCESS ? device : 0;
}

static bool streams_make(struct gmod_heap *h)
{
	return NEXT(cuStreamCreateWithPriority)(&h->copies, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS &&
	       NEXT(cuStreamCreateWithPriority)(&h->passes, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS &&
	       NEXT(cuEventCreate)(&h->passed, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
}

static uint64_t take(size_t size)
{
	CUdeviceptr p = 0;

	return NEXT(cuMemAlloc_v2)(&p, size) == CUDA_SUCCESS ? p : 0;
}

/*
 * Memory for the chunks, less of it where the device has not so much, and for the metadata. That comes first: there is
 * room in it for fewer chunks, so nothing is freed to halve them, which would wait for kernels.
 */
static bool memory_make(struct gmod_heap *h)
{
	size_t limit = 0;
	uint32_t wanted;

	if (NEXT(cuCtxGetLimit)(&limit, CU_LIMIT_MALLOC_HEAP_SIZE) != CUDA_SUCCESS)
		return false;
	wanted = (uint32_t)(gmod_settings_heap_bytes(limit) >> GMOD_CHUNK_BITS);
	for (uint32_t chunks = wanted; chunks >= LEAST && !h->memory; chunks /= 2) {
		if (!gmod_device_layout(chunks, gmod_settings_guards(), &h->layout))
			return false;
		if (!h->state)
			h->state = take(h->layout.size);
		if (h->state)
			h->memory = take(((size_t)chunks + 1) << GMOD_CHUNK_BITS);
	}
	if (!h->memory)
		return false;
	h->size = (size_t)h->layout.chunks << GMOD_CHUNK_BITS;
	if (h->layout.chunks < wanted)
		gmod_log_note(0, "a device heap has %u MiB, not %u: the device has no more memory",
			      h->layout.chunks >> 4, wanted >> 4);
	return true;
}

/* Undoes what set_up() has got done. */
static void tear_down(struct gmod_heap *h)
{
	bool ok = true;

	if (h->ring)
		ok &= NEXT(cuMemFreeHost)(h->ring) == CUDA_SUCCESS;
	if (h->state)
		ok &= NEXT(cuMemFree_v2)(h->state) == CUDA_SUCCESS;
	if (h->memory)
		ok &= NEXT(cuMemFree_v2)(h->memory) == CUDA_SUCCESS;
	if (h->passed)
		ok &= NEXT(cuEventDestroy_v2)(h->passed) == CUDA_SUCCESS;
	if (h->passes)
		ok &= NEXT(cuStreamDestroy_v2)(h->passes) == CUDA_SUCCESS;
	if (h->copies)
		ok &= NEXT(cuStreamDestroy_v2)(h->copies) == CUDA_SUCCESS;
	if (!ok)
		gmod_degraded("giving back a device heap");
}

static bool set_up(struct gmod_heap *h)
{
	uint64_t ring;

	if (getrandom(h->key, sizeof(h->key), GRND_NONBLOCK) != sizeof(h->key) || !streams_make(h) || !memory_make(h))
		return false;
	ring = ring_make(h);
	h->intact = gmod_now();
	return ring && send_metadata(h, ring);
}

static void say_none(void)
{
	static atomic_bool said;

	if (gmod_degraded_first(&said))
		gmod_log_note(0,
			      "no memory for a device heap: mallocN and freeN are CUDA's own in this context (option "
			      "device_heap_mb says how much it takes, device_heap=off leaves it out)");
}

struct gmod_heap *gmod_heap_of(const struct gmod_context *c)
{
	/* acquire: the heap is complete */
	return atomic_load_explicit(&c->heap, memory_order_acquire);
}

struct gmod_heap *gmod_heap_here(struct gmod_context *c)
{
	struct gmod_heap *h = gmod_heap_of(c);

	if (h || atomic_load_explicit(&c->no_heap, memory_order_relaxed))
		return h;
	h = calloc(1, sizeof(*h));
	if (h)
		h->context = c;
	if (!h || !set_up(h)) {
		if (h)
			tear_down(h);
		free(h);
		atomic_store_explicit(&c->no_heap, true, memory_order_relaxed);
		say_none();
		return NULL;
	}
	gmod_settings_are_used();
	/* release: the heap is complete for the monitor */
	atomic_store_explicit(&c->heap, h, memory_order_release);
	gmod_monitor_ensure();
	gmod_monitor_hurry();
	return h;
}

/* ---- the end ---- */

/* Who is still in there, stuck in a driver call, may look at it yet. */
void gmod_heap_gone(struct gmod_context *c)
{
	struct gmod_heap *h = atomic_exchange_explicit(&c->heap, NULL, memory_order_acq_rel);

	atomic_store_explicit(&c->no_heap, false, memory_order_relaxed);
	if (!h || atomic_load_explicit(&c->users, memory_order_seq_cst))
		return;
	free(h);
}
