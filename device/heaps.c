#include "device/heaps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "lib/log.h"
#include "lib/start.h"
#include "monitor/monitor.h"

#define MIB ((size_t)1 << 20)

/* What is on its way to the device: all of the metadata, header and sets filled in. */
struct image {
	char *bytes;
	size_t size;
};

static bool image_make(struct image *i, const struct gmod_heap *h, uint64_t metadata, uint64_t chunks, uint64_t ring,
		       enum gmod_heap_mode mode)
{
	const struct gmod_device_layout *l = &h->layout;

	i->size = l->size;
	i->bytes = mmap(NULL, i->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (i->bytes == MAP_FAILED)
		return false;
	gmod_device_header(l, metadata, chunks, ring, h->key, mode, (struct gmod_device_heap *)(void *)i->bytes);
	gmod_device_set_image(l->chunks, 0, l->chunks, (uint64_t *)(void *)(i->bytes + l->free_chunks));
	gmod_device_set_image(GMOD_SEGMENTS_MAX, 1, GMOD_SEGMENTS_MAX,
			      (uint64_t *)(void *)(i->bytes + l->free_numbers));
	return true;
}

/* The ring, as the device sees it; 0: no memory. */
static uint64_t ring_make(struct gmod_heap *h)
{
	CUdeviceptr device = 0;
	void *p = NULL;

	if (NEXT(cuMemHostAlloc)(&p, sizeof(*h->ring), CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS)
		return 0;
	memset(p, 0, sizeof(*h->ring));
	if (NEXT(cuMemHostGetDevicePointer_v2)(&device, p, 0) != CUDA_SUCCESS) {
		NEXT(cuMemFreeHost)(p);
		return 0;
	}
	h->ring = p;
	return device;
}

static bool streams_make(struct gmod_heap *h)
{
	if (NEXT(cuStreamCreateWithPriority)(&h->stream, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS)
		return false;
	if (NEXT(cuEventCreate)(&h->passed, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
		return true;
	NEXT(cuStreamDestroy_v2)(h->stream);
	return false;
}

/* Chunks first, on a boundary of theirs; the metadata behind them. */
static bool fill(struct gmod_heap *h, uint64_t memory, enum gmod_heap_mode mode)
{
	uint64_t chunks = (memory + GMOD_CHUNK_SIZE - 1) & ~(uint64_t)(GMOD_CHUNK_SIZE - 1), ring = ring_make(h);
	struct image i;
	bool ok;

	h->header = chunks + ((uint64_t)h->layout.chunks << GMOD_CHUNK_BITS);
	if (!ring || !image_make(&i, h, h->header, chunks, ring, mode))
		return false;
	ok = NEXT(cuMemcpyHtoDAsync_v2)(h->header, i.bytes, i.size, h->stream) == CUDA_SUCCESS &&
	     NEXT(cuStreamSynchronize)(h->stream) == CUDA_SUCCESS;
	munmap(i.bytes, i.size);
	h->intact = gmod_now();
	return ok;
}

static enum gmod_heap_mode mode(void)
{
	return gmod_options()->device_heap == GMOD_OPTION_HEAP_NATIVE ? GMOD_HEAP_NATIVE : GMOD_HEAP_SLAB;
}

/* Chunks that device_heap_mb asks for. A native heap needs some for its byte arrays only. */
static uint32_t chunks_wanted(void)
{
	size_t bytes = gmod_options()->device_heap_mb * MIB;

	return (uint32_t)((mode() == GMOD_HEAP_NATIVE ? bytes / 4 : bytes) >> GMOD_CHUNK_BITS);
}

static bool set_up(struct gmod_heap *h)
{
	CUdeviceptr memory;
	size_t size;

	if (!gmod_device_layout(chunks_wanted(), (uint32_t)gmod_options()->device_guards, &h->layout))
		return false;
	if (getrandom(h->key, sizeof(h->key), GRND_NONBLOCK) != sizeof(h->key) || !streams_make(h))
		return false;
	size = h->layout.size + ((size_t)h->layout.chunks + 1) * GMOD_CHUNK_SIZE;
	if (NEXT(cuMemAlloc_v2)(&memory, size) != CUDA_SUCCESS)
		return false;
	if (fill(h, memory, mode()))
		return true;
	NEXT(cuMemFree_v2)(memory);
	return false;
}

static void say_none(void)
{
	static atomic_bool said;

	gmod_count(&gmod_counters.degraded, 1);
	if (!atomic_exchange_explicit(&said, true, memory_order_relaxed))
		gmod_log_note(0,
			      "no memory for a device heap of %llu MiB: mallocN and freeN are CUDA's own (option "
			      "device_heap_mb)",
			      (unsigned long long)gmod_options()->device_heap_mb);
}

struct gmod_heap *gmod_heap_here(struct gmod_context *c)
{
	struct gmod_heap *h = atomic_load_explicit(&c->heap, memory_order_acquire);

	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (h && set_up(h)) {
		h->context = c;
		/* release: the heap is complete for the monitor */
		atomic_store_explicit(&c->heap, h, memory_order_release);
		gmod_monitor_ensure();
		return h;
	}
	free(h);
	say_none();
	return NULL;
}

void gmod_heap_gone(struct gmod_context *c)
{
	free(atomic_exchange_explicit(&c->heap, NULL, memory_order_acq_rel));
}
