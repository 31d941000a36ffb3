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

#define AT_FIRST ((size_t)64 << 20) /* bytes of memory that a heap begins with */
#define GROW_AGAIN GMOD_MILLISECONDS(100)

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

static uint32_t chunks_of(size_t bytes)
{
	return (uint32_t)(bytes >> GMOD_CHUNK_BITS);
}

/* All of the metadata, on its way to the device, and what units are told. */
static bool send_metadata(struct gmod_heap *h, uint64_t ring)
{
	struct gmod_device_facts facts = {
	    .metadata = h->state,
	    .chunks = h->memory.base,
	    .ring = ring,
	    .key = h->key,
	    .committed = chunks_of(h->memory.committed),
	    .delay = gmod_options()->device_free_delay,
	};
	void *image = gmod_map(h->layout.size);
	bool sent;

	if (!image)
		return false;
	gmod_device_image(&h->layout, &facts, image);
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

/* Addresses for the chunks, memory for the first of them, and memory for all of the metadata. */
static bool memory_make(struct gmod_heap *h)
{
	CUdeviceptr metadata;
	size_t limit = 0;

	if (NEXT(cuCtxGetLimit)(&limit, CU_LIMIT_MALLOC_HEAP_SIZE) != CUDA_SUCCESS ||
	    !gmod_device_memory_reserve(&h->memory, h->context->device, gmod_settings_heap_bytes(limit)) ||
	    !gmod_device_memory_commit(&h->memory, AT_FIRST) ||
	    !gmod_device_layout(chunks_of(h->memory.size), gmod_settings_guards(), &h->layout) ||
	    NEXT(cuMemAlloc_v2)(&metadata, h->layout.size) != CUDA_SUCCESS)
		return false;
	h->state = metadata;
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
	gmod_device_memory_drop(&h->memory, false);
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
			      "device_heap_mb says how far it may grow, device_heap=off leaves it out)");
}

static _Atomic(struct gmod_heap *) heaps[GMOD_CONTEXTS];
static atomic_bool none[GMOD_CONTEXTS]; /* there was no memory for one: then no module of the context gets one later */

struct gmod_heap *gmod_heap_of(const struct gmod_context *c)
{
	/* acquire: the heap is complete */
	return atomic_load_explicit(&heaps[gmod_context_index(c)], memory_order_acquire);
}

struct gmod_heap *gmod_heap_here(struct gmod_context *c)
{
	struct gmod_heap *h = gmod_heap_of(c);

	if (h || atomic_load_explicit(&none[gmod_context_index(c)], memory_order_relaxed))
		return h;
	h = calloc(1, sizeof(*h));
	if (h)
		h->context = c;
	if (!h || !set_up(h)) {
		if (h)
			tear_down(h);
		free(h);
		atomic_store_explicit(&none[gmod_context_index(c)], true, memory_order_relaxed);
		say_none();
		return NULL;
	}
	gmod_settings_are_used();
	/* release: the heap is complete for the monitor */
	atomic_store_explicit(&heaps[gmod_context_index(c)], h, memory_order_release);
	gmod_monitor_ensure();
	gmod_monitor_hurry();
	return h;
}

/* ---- growing ---- */

static size_t next_size(const struct gmod_heap *h, size_t wanted)
{
	size_t twice = 2 * h->memory.committed;

	return wanted > twice ? wanted : twice;
}

/* How far the heap may grow is as far as it has come, while the device has no more memory to give. */
static void publish(struct gmod_heap *h, bool grew)
{
	uint64_t committed = chunks_of(h->memory.committed), limit = grew ? h->layout.chunks : committed;
	uint64_t memory = gmod_memory_word(h->told.key, (uint32_t)limit, (uint32_t)committed);

	h->unpublished =
	    !gmod_heap_write(h, h->state + offsetof(struct gmod_heap_state, memory), &memory, sizeof(memory));
	if (h->unpublished)
		gmod_degraded("growing a device heap");
}

/* What the ring says it wants may be anything: no more than the whole of it comes of that. */
void gmod_heap_grow(struct gmod_heap *h)
{
	uint64_t chunks = __atomic_load_n(&h->ring->wanted, __ATOMIC_RELAXED), now;
	size_t wanted = chunks < h->layout.chunks ? (size_t)chunks << GMOD_CHUNK_BITS : h->memory.size;
	bool grew;

	if (h->unpublished)
		publish(h, true);
	if (wanted <= h->memory.committed)
		return;
	now = gmod_monotonic_ns();
	if (now < h->grow_again_ns)
		return;
	grew = gmod_device_memory_commit(&h->memory, next_size(h, wanted)) ||
	       gmod_device_memory_commit(&h->memory, wanted);
	h->grow_again_ns = grew ? 0 : now + GROW_AGAIN;
	if (!grew)
		gmod_degraded("growing a device heap");
	publish(h, grew);
}

/* ---- the end ---- */

/* Who is still in there, stuck in a driver call, may look at it yet. */
void gmod_heap_gone(struct gmod_context *c)
{
	struct gmod_heap *h = atomic_exchange_explicit(&heaps[gmod_context_index(c)], NULL, memory_order_acq_rel);

	atomic_store_explicit(&none[gmod_context_index(c)], false, memory_order_relaxed);
	if (!h || atomic_load_explicit(&c->users, memory_order_seq_cst))
		return;
	gmod_device_memory_drop(&h->memory, true);
	free(h);
}
