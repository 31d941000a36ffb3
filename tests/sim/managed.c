/*
 * Managed memory. It costs nothing of the device until it is prefetched there, and what is resident gives
 * way to native allocations. Advice and location are kept page by page, from when a page first has some.
 */
#include "sim.h"

#include <stdlib.h>

#define MOST_KEPT ((size_t)96 << 20) /* measured */

static CUresult alloc(CUcontext ctx, CUdeviceptr *out, size_t bytes, unsigned flags)
{
	struct block *block;
	uintptr_t at;

	if (!out || !bytes || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	at = arena_take(&sim_host_arena, bytes);
	if (!at || !arena_open(&sim_host_arena, at, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = block_new(BLOCK_MANAGED, ctx, at, bytes);
	block->flags = flags;
	block->sync_memops = true;
	block_insert(block);
	*out = at;
	return CUDA_SUCCESS;
}

ENTRY(cuMemAllocManaged, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE,
      TAKES(CUdeviceptr *dptr, size_t bytesize, unsigned int flags), alloc(c.ctx, dptr, bytesize, flags))

static size_t page_count(const struct block *block)
{
	return (block->size + sim.page - 1) / sim.page;
}

struct page *pages_of(struct block *block)
{
	if (block->pages)
		return block->pages;
	block->pages = calloc(page_count(block), sizeof(*block->pages));
	for (size_t i = 0; i < page_count(block); i++)
		block->pages[i] = (struct page){.preferred = NOWHERE, .prefetched = NOWHERE, .resident = ON_HOST};
	return block->pages;
}

static void move_page(struct page *page, int where)
{
	if (page->resident >= 0)
		sim.device[page->resident].resident -= sim.page;
	page->resident = where;
	if (where < 0)
		return;
	sim.device[where].resident += sim.page;
	if (sim.device[where].kept)
		sim.device[where].kept -= sim.page;
}

/* The driver keeps some of what is freed in hand. */
static void keep_page(int where)
{
	if (where >= 0 && sim.device[where].kept < MOST_KEPT)
		sim.device[where].kept += sim.page;
}

void pages_forget(struct block *block)
{
	for (size_t i = 0; block->pages && i < page_count(block); i++) {
		keep_page(block->pages[i].resident);
		move_page(&block->pages[i], ON_HOST);
	}
}

/* The size of the allocation is not rounded. */
CUresult span_of(CUdeviceptr at, size_t bytes, struct span *out)
{
	struct block *block = block_find(at);
	size_t offset;

	if (!block || block->kind != BLOCK_MANAGED || block->freeing || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	offset = at - block->base;
	if (bytes > block->size - offset)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (struct span){block, offset / sim.page, (offset + bytes + sim.page - 1) / sim.page};
	return CUDA_SUCCESS;
}

/* ON_HOST, a device, or an error: a device must be able to share managed memory with the host. */
static CUresult check_place(int where)
{
	if (where == ON_HOST)
		return CUDA_SUCCESS;
	return device_exists(where) && sim.concurrent_managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult place_of(CUmemLocation location, int *where)
{
	*where = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : ON_HOST;
	if (location.type < CU_MEM_LOCATION_TYPE_DEVICE || location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
		return CUDA_ERROR_INVALID_VALUE;
	return *where == ON_HOST || device_exists(*where) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

uint32_t place_bit(int where)
{
	return where == ON_HOST ? 1u << 31 : 1u << where;
}

static void advise_page(struct page *page, CUmem_advise advice, int where)
{
	switch (advice) {
	case CU_MEM_ADVISE_SET_READ_MOSTLY:
	case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		page->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
		break;
	case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		page->preferred = where;
		break;
	case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		page->preferred = NOWHERE;
		break;
	case CU_MEM_ADVISE_SET_ACCESSED_BY:
		page->accessed_by |= place_bit(where);
		break;
	case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
		page->accessed_by &= ~place_bit(where);
		break;
	}
}

static CUresult advise(CUdeviceptr at, size_t bytes, CUmem_advise advice, int where)
{
	struct span span = {0};
	CUresult r = span_of(at, bytes, &span);

	if (!r && (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r && advice >= CU_MEM_ADVISE_SET_PREFERRED_LOCATION && advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
		r = check_place(where);
	for (size_t i = span.first; !r && i < span.end; i++)
		advise_page(&pages_of(span.block)[i], advice, where);
	return r;
}

ENTRY(cuMemAdvise, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE,
      TAKES(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device),
      advise(devPtr, count, advice, device))

static CUresult advise_location(CUdeviceptr at, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
	bool ignored =
	    advice < CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
	int where = ON_HOST;
	CUresult r = ignored ? CUDA_SUCCESS : place_of(location, &where);

	/* The two calls differ in this. */
	if (r == CUDA_ERROR_INVALID_DEVICE)
		r = CUDA_ERROR_INVALID_VALUE;

	return r ?: advise(at, bytes, advice, where);
}

ENTRY(cuMemAdvise_v2, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE,
      TAKES(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location),
      advise_location(devPtr, count, advice, location))

/* The pages move at once; what follows on the stream cannot tell. */
static CUresult prefetch_span(const struct span *span, int where)
{
	for (size_t i = span->first; i < span->end; i++) {
		struct page *page = &pages_of(span->block)[i];

		page->prefetched = where;
		move_page(page, where);
	}
	return CUDA_SUCCESS;
}

static CUresult may_prefetch(CUstream stream)
{
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	return stream->capture ? capture_refuse(stream) : capture_check_legacy(stream);
}

static CUresult prefetch(CUstream stream, CUdeviceptr at, size_t bytes, int where)
{
	struct work none = {.kind = WORK_NONE};
	struct span span;

	return span_of(at, bytes, &span) ?: check_place(where)
					   ?: may_prefetch(stream)
					   ?: prefetch_span(&span, where)
					   ?: queue_submit(stream, &none, NULL, 0, NULL);
}

ENTRY_TWINS(cuMemPrefetchAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream),
	    prefetch(stream_of(c.ctx, hStream, c.per_thread), devPtr, count, dstDevice))

static CUresult prefetch_location(CUstream stream, CUdeviceptr at, size_t bytes, CUmemLocation location, unsigned flags)
{
	int where;
	CUresult r = flags ? CUDA_ERROR_INVALID_VALUE : place_of(location, &where);

	return r ?: prefetch(stream, at, bytes, where);
}

ENTRY_TWINS(cuMemPrefetchAsync_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags, CUstream hStream),
	    prefetch_location(stream_of(c.ctx, hStream, c.per_thread), devPtr, count, location, flags))

static CUresult attach(CUstream stream, CUdeviceptr at, size_t bytes, unsigned flags)
{
	struct block *block = block_find(at);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!block || block->kind != BLOCK_MANAGED || block->base != at || (bytes && bytes != block->size))
		return CUDA_ERROR_INVALID_VALUE;
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
		return CUDA_ERROR_INVALID_VALUE;
	return may_prefetch(stream) ?: capture_check_unsafe();
}

ENTRY_TWINS(cuStreamAttachMemAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags),
	    attach(stream_of(c.ctx, hStream, c.per_thread), dptr, length, flags))

/* Batches: where to is NULL, the bytes are of no use any more, which changes nothing here. */
struct ranges {
	const CUdeviceptr *at;
	const size_t *bytes;
	size_t count;
	const CUmemLocation *to;
	const size_t *first; /* of the ranges that go to each location */
	size_t locations;
};

static CUresult location_of(const struct ranges *b, size_t i, int *where)
{
	size_t l = 0;

	while (l + 1 < b->locations && b->first[l + 1] <= i)
		l++;
	return place_of(b->to[l], where) ?: check_place(*where);
}

static CUresult prefetch_ranges(CUstream stream, const struct ranges *b, bool flags)
{
	struct work none = {.kind = WORK_NONE};
	CUresult r = may_prefetch(stream);

	if (!r && (!b->at || !b->bytes || !b->count || flags))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r && b->to && (!b->first || !b->locations || b->first[0]))
		r = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < b->count && !r; i++) {
		struct span span;
		int where;

		r = span_of(b->at[i], b->bytes[i], &span);
		if (!r && b->to)
			r = location_of(b, i, &where) ?: prefetch_span(&span, where);
	}
	return r ?: queue_submit(stream, &none, NULL, 0, NULL);
}

#define RANGES_TO(symbol) \
	ENTRY_TWINS(symbol, _ptsz, NEEDS_CONTEXT, \
		    TAKES(CUdeviceptr *at, size_t *bytes, size_t count, CUmemLocation *to, size_t *first, \
			  size_t locations, unsigned long long flags, CUstream stream), \
		    refuse_if(!to, CUDA_ERROR_INVALID_VALUE) \
			?: prefetch_ranges(stream_of(c.ctx, stream, c.per_thread), \
					   &(struct ranges){at, bytes, count, to, first, locations}, flags))

RANGES_TO(cuMemPrefetchBatchAsync)
RANGES_TO(cuMemDiscardAndPrefetchBatchAsync)
ENTRY_TWINS(cuMemDiscardBatchAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr *at, size_t *bytes, size_t count, unsigned long long flags, CUstream stream),
	    prefetch_ranges(stream_of(c.ctx, stream, c.per_thread), &(struct ranges){at, bytes, count, NULL, NULL, 0},
			    flags))
