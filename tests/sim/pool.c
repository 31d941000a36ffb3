/* Memory in stream order: pools, allocating from them, freeing behind the work of a stream. */
#include "sim.h"

#include <stdlib.h>

CUmemoryPool pool_new(int device)
{
	CUmemoryPool pool = calloc(1, sizeof(*pool));

	pool->magic = MAGIC_POOL;
	pool->device = device;
	pool->reuse[0] = pool->reuse[1] = pool->reuse[2] = 1;
	return pool;
}

static bool pool_ok(CUmemoryPool pool)
{
	return pool && pool->magic == MAGIC_POOL;
}

/* In a capture: a node with an address of its own, like cuGraphAddMemAllocNode's. */
static CUresult alloc_captured(CUstream stream, CUmemoryPool pool, CUdeviceptr *out, size_t bytes)
{
	struct work work = {.kind = WORK_ALLOC};
	CUdeviceptr at;
	CUresult r = graph_reserve(stream->ctx, pool->device, bytes, &at);

	if (r)
		return r;
	work.memory = at;
	r = capture_append(stream, &work, NULL);
	if (!r)
		*out = at;
	return r;
}

static CUresult alloc(CUstream stream, CUmemoryPool pool, CUdeviceptr *out, size_t bytes)
{
	struct block *block;
	CUresult r;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || !pool_ok(pool))
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytes) {
		*out = 0;
		return CUDA_SUCCESS;
	}
	if (stream->capture)
		return alloc_captured(stream, pool, out, bytes);
	r = capture_check_legacy(stream) ?: capture_check_unsafe();
	r = r ?: device_alloc(stream->ctx, pool->device, pool, bytes, &block);
	if (r)
		return r;
	pool->used += bytes;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	*out = block->base;
	return CUDA_SUCCESS;
}

static CUmemoryPool current_pool(CUcontext ctx)
{
	return ctx ? sim.device[ctx->device].pool : NULL;
}

ENTRY_TWINS(cuMemAllocAsync, _ptsz, NEEDS_CONTEXT, TAKES(CUdeviceptr *dptr, size_t bytesize, CUstream hStream),
	    alloc(stream_of(c.ctx, hStream, c.per_thread), current_pool(c.ctx), dptr, bytesize))
ENTRY_TWINS(cuMemAllocFromPoolAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
	    alloc(stream_of(c.ctx, hStream, c.per_thread), pool, dptr, bytesize))

/* Ordinary device memory may be given back like this too; it is then freed when the stream gets there. */
static CUresult free_async(CUcontext ctx, CUstream handle, bool per_thread, CUdeviceptr dptr)
{
	struct work work = {.kind = WORK_FREE, .memory = dptr};
	CUstream stream = stream_of(ctx, handle, per_thread);
	struct block *block = block_find(dptr);
	CUresult r;

	if (stream && stream->capture)
		return capture_append(stream, &work, NULL);
	r = stream ? capture_check_legacy(stream) ?: capture_check_unsafe() : CUDA_ERROR_INVALID_HANDLE;
	if (r)
		return r;
	if (!dptr)
		return CUDA_SUCCESS;
	if (!block || block->base != dptr || block->freeing)
		return CUDA_ERROR_INVALID_VALUE;
	if (block->kind == BLOCK_MANAGED)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (block->kind != BLOCK_POOL && block->kind != BLOCK_DEVICE && !(block->kind == BLOCK_GRAPH && block->charged))
		return CUDA_ERROR_INVALID_VALUE;
	block->freeing = true;
	r = stream_do(ctx, handle, per_thread, &work);
	if (r)
		block->freeing = false;
	return r;
}

ENTRY_TWINS(cuMemFreeAsync, _ptsz, NEEDS_CONTEXT, TAKES(CUdeviceptr dptr, CUstream hStream),
	    free_async(c.ctx, hStream, c.per_thread, dptr))

/* Pools. */

ENTRY(cuDeviceGetDefaultMemPool, NEEDS_INIT, TAKES(CUmemoryPool *pool_out, CUdevice dev),
      ANSWER_OF(device_exists(dev), CUDA_ERROR_INVALID_DEVICE, pool_out, sim.device[dev].default_pool))
ENTRY(cuDeviceGetMemPool, NEEDS_INIT, TAKES(CUmemoryPool *pool, CUdevice dev),
      ANSWER_OF(device_exists(dev), CUDA_ERROR_INVALID_DEVICE, pool, sim.device[dev].pool))

static CUresult set_device_pool(CUdevice device, CUmemoryPool pool)
{
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!pool_ok(pool) || pool->device != device)
		return CUDA_ERROR_INVALID_VALUE;
	sim.device[device].pool = pool;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceSetMemPool, NEEDS_INIT, TAKES(CUdevice dev, CUmemoryPool pool), set_device_pool(dev, pool))

static CUresult create(CUmemoryPool *out, const CUmemPoolProps *props)
{
	if (!out || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !device_exists(props->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	*out = pool_new(props->location.id);
	return CUDA_SUCCESS;
}

ENTRY(cuMemPoolCreate, NEEDS_INIT, TAKES(CUmemoryPool *pool, const CUmemPoolProps *poolProps), create(pool, poolProps))

/* Blocks may still point to it, so the struct stays. */
static CUresult destroy(CUmemoryPool pool)
{
	if (!pool_ok(pool) || pool == sim.device[pool->device].default_pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim.device[pool->device].pool == pool)
		sim.device[pool->device].pool = sim.device[pool->device].default_pool;
	pool->magic = 0;
	return CUDA_SUCCESS;
}

ENTRY(cuMemPoolDestroy, NEEDS_INIT, TAKES(CUmemoryPool pool), destroy(pool))

/* Where an attribute is kept; NULL: there is none, or (for writing) it is not the program's to set. */
static int *reuse_of(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	if (attribute < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
	    attribute > CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
		return NULL;
	return &pool->reuse[attribute - 1];
}

static cuuint64_t *amount_of(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	switch (attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		return &pool->release_threshold;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		return &pool->used;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		return &pool->used_high;
	default:
		return NULL;
	}
}

static CUresult set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, const void *value)
{
	if (!pool_ok(pool) || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (reuse_of(pool, attribute))
		*reuse_of(pool, attribute) = *(const int *)value;
	else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		pool->release_threshold = *(const cuuint64_t *)value;
	else if (amount_of(pool, attribute) == &pool->used_high && *(const cuuint64_t *)value == 0)
		pool->used_high = pool->used;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

ENTRY(cuMemPoolSetAttribute, NEEDS_INIT, TAKES(CUmemoryPool pool, CUmemPool_attribute attr, void *value),
      set_attribute(pool, attr, value))

static CUresult get_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	if (!pool_ok(pool) || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (reuse_of(pool, attribute))
		*(int *)value = *reuse_of(pool, attribute);
	else if (amount_of(pool, attribute))
		*(cuuint64_t *)value = *amount_of(pool, attribute);
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

ENTRY(cuMemPoolGetAttribute, NEEDS_INIT, TAKES(CUmemoryPool pool, CUmemPool_attribute attr, void *value),
      get_attribute(pool, attr, value))

/* Every device can reach every pool; nothing is held back that could be trimmed. */
ENTRY(cuMemPoolSetAccess, NEEDS_INIT, TAKES(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count),
      refuse_if(!pool_ok(pool) || (count && !map), CUDA_ERROR_INVALID_VALUE))
ENTRY(cuMemPoolGetAccess, NEEDS_INIT, TAKES(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location),
      ANSWER_OF(pool_ok(memPool) && location, CUDA_ERROR_INVALID_VALUE, flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
ENTRY(cuMemPoolTrimTo, NEEDS_INIT, TAKES(CUmemoryPool pool, size_t minBytesToKeep),
      refuse_if(!pool_ok(pool), CUDA_ERROR_INVALID_VALUE))
