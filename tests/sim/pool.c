/* Memory in stream order: pools, allocating from one, and freeing behind the work of a stream. */
#include "sim.h"

#include <fcntl.h>
#include <stdlib.h>

static CUmemoryPool pools; /* destroyed ones, too, as long as they have memory */

static CUmemoryPool pool_new(CUdevice device)
{
	CUmemoryPool pool = calloc(1, sizeof(*pool));

	pool->next = pools;
	pool->device = device;
	pool->readers = pool->writers = 1u << device;
	for (int a = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES; a < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD; a++)
		pool->attribute[a] = 1;
	pools = pool;
	return pool;
}

static CUmemoryPool default_pool(CUdevice device)
{
	struct device *d = &sim.device[device];

	if (!d->default_pool)
		d->default_pool = pool_new(device);
	return d->default_pool;
}

static CUmemoryPool current_pool(CUdevice device)
{
	return sim.device[device].pool ?: default_pool(device);
}

static bool pool_ok(CUmemoryPool pool)
{
	CUmemoryPool p = pools;

	while (p && p != pool)
		p = p->next;
	return p && !p->destroyed;
}

/* What is called with a pool: a capture forbids even questions (measured, but for who may access it and exports). */
#define POOL_ENTRY(symbol, parameters, does) \
	ENTRY(symbol, NEEDS_INIT | UNSAFE_IN_CAPTURE, parameters, \
	      refuse_if(!pool_ok(pool), CUDA_ERROR_INVALID_VALUE) ?: (does))

/* A pool that was destroyed keeps nothing, and ends with the last of its memory. */
static void trim(CUmemoryPool pool, size_t keep)
{
	pool_trim(pool, pool->destroyed ? 0 : keep);
	if (pool->destroyed && !pool->segments) {
		UNLINK(pools, pool);
		free(pool);
	}
}

void pools_trim(void)
{
	CUmemoryPool next;

	for (CUmemoryPool p = pools; p; p = next) {
		next = p->next;
		trim(p, p->attribute[CU_MEMPOOL_ATTR_RELEASE_THRESHOLD]);
	}
}

/* Where the program waits, what is above the threshold is given back. */
CUresult pools_trim_after(CUresult waited)
{
	if (!waited)
		pools_trim();
	return waited;
}

void pools_trim_all_of(CUdevice device)
{
	for (CUmemoryPool p = pools; p; p = p->next)
		if (p->device == device)
			pool_trim(p, 0);
}

long pools_made(void)
{
	long made = 0;

	for (CUmemoryPool p = pools; p; p = p->next)
		made += !p->destroyed && p != sim.device[p->device].default_pool;
	return made;
}

/* Pools. */

static CUresult create(CUmemoryPool *out, const CUmemPoolProps *props)
{
	if (!out || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !device_exists(props->location.id) ||
	    (props->handleTypes & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		return CUDA_ERROR_INVALID_VALUE;
	*out = pool_new(props->location.id);
	(*out)->exports = props->handleTypes;
	(*out)->limit = props->maxSize;
	return CUDA_SUCCESS;
}

ENTRY(cuMemPoolCreate, NEEDS_INIT | UNSAFE_IN_CAPTURE, TAKES(CUmemoryPool *pool, const CUmemPoolProps *poolProps),
      create(pool, poolProps))

static CUresult destroy(CUmemoryPool pool)
{
	struct device *d = &sim.device[pool->device];

	if (pool == d->default_pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (pool == d->pool)
		d->pool = NULL;
	pool->destroyed = true;
	trim(pool, 0);
	return CUDA_SUCCESS;
}

POOL_ENTRY(cuMemPoolDestroy, TAKES(CUmemoryPool pool), destroy(pool))
POOL_ENTRY(cuMemPoolTrimTo, TAKES(CUmemoryPool pool, size_t keep), (pool_trim(pool, keep), CUDA_SUCCESS))

static bool is_flag(CUmemPool_attribute attribute)
{
	return attribute < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
}

static bool is_attribute(CUmemPool_attribute attribute)
{
	return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
	       attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

static CUresult get_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	if (!value || !is_attribute(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	if (is_flag(attribute))
		*(int *)value = (int)pool->attribute[attribute];
	else
		*(cuuint64_t *)value = pool->attribute[attribute];
	return CUDA_SUCCESS;
}

POOL_ENTRY(cuMemPoolGetAttribute, TAKES(CUmemoryPool pool, CUmemPool_attribute attr, void *value),
	   get_attribute(pool, attr, value))

/* A high mark can only be put back to what there is now. */
static CUresult set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, const void *value)
{
	bool is_high = attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
	cuuint64_t *to;

	if (!value || !is_attribute(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	to = &pool->attribute[attribute];
	if (is_flag(attribute))
		*to = *(const int *)value != 0;
	else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		*to = *(const cuuint64_t *)value;
	else if (is_high && !*(const cuuint64_t *)value)
		*to = to[-1];
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

POOL_ENTRY(cuMemPoolSetAttribute, TAKES(CUmemoryPool pool, CUmemPool_attribute attr, void *value),
	   set_attribute(pool, attr, value))

static bool is_place(const CUmemLocation *location)
{
	return location->type == CU_MEM_LOCATION_TYPE_DEVICE && device_exists(location->id);
}

/* The device whose memory it is stays in. */
static CUresult set_access(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	if (!map && count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++)
		if (!is_place(&map[i].location) ||
		    (map[i].location.id == pool->device && map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
			return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		uint32_t device = 1u << map[i].location.id;
		CUmemAccess_flags flags = map[i].flags;

		pool->readers = (pool->readers & ~device) | (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE ? device : 0);
		pool->writers = (pool->writers & ~device) | (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? device : 0);
	}
	pool_let_in(pool);
	return CUDA_SUCCESS;
}

POOL_ENTRY(cuMemPoolSetAccess, TAKES(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count),
	   set_access(pool, map, count))

static CUresult get_access(CUmemoryPool pool, CUmemAccess_flags *flags, const CUmemLocation *location)
{
	if (!flags || !location || !is_place(location))
		return CUDA_ERROR_INVALID_VALUE;
	*flags = pool->writers >> location->id & 1   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
		 : pool->readers >> location->id & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READ
						     : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}

POOL_ENTRY(cuMemPoolGetAccess, TAKES(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location),
	   get_access(pool, flags, location))

/* A file that can be closed and imported by nobody. */
static CUresult export(CUmemoryPool pool, void *out, CUmemAllocationHandleType type, unsigned long long flags)
{
	int made;

	if (!out || !type || !(pool->exports & type) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	made = fcntl(sim_device_arena.fd, F_DUPFD_CLOEXEC, 0);
	if (made < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	*(int *)out = made;
	return CUDA_SUCCESS;
}

POOL_ENTRY(cuMemPoolExportToShareableHandle,
	   TAKES(void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType, unsigned long long flags),
	   export(pool, handle_out, handleType, flags))

ENTRY(cuDeviceGetDefaultMemPool, NEEDS_INIT, TAKES(CUmemoryPool *pool_out, CUdevice dev),
      ANSWER_OF(device_exists(dev), CUDA_ERROR_INVALID_DEVICE, pool_out, default_pool(dev)))
ENTRY(cuDeviceGetMemPool, NEEDS_INIT, TAKES(CUmemoryPool *pool, CUdevice dev),
      ANSWER_OF(device_exists(dev), CUDA_ERROR_INVALID_DEVICE, pool, current_pool(dev)))
POOL_ENTRY(cuDeviceSetMemPool, TAKES(CUdevice dev, CUmemoryPool pool),
	   refuse_if(!device_exists(dev) || pool->device != dev, CUDA_ERROR_INVALID_VALUE)
	       ?: (sim.device[dev].pool = pool, CUDA_SUCCESS))

/* Allocating. */

/* In a capture: a node with an address of its own, like cuGraphAddMemAllocNode's. */
static CUresult alloc_captured(CUstream stream, CUdevice device, CUdeviceptr *out, size_t bytes)
{
	struct work work = {.kind = WORK_ALLOC};
	CUdeviceptr at;
	CUresult r = graph_reserve(stream->ctx, device, bytes, &at);

	if (r)
		return r;
	work.memory = at;
	r = capture_append(stream, &work, NULL);
	if (!r)
		*out = at;
	return r;
}

/* Nothing is given to the stream: in the legacy one it joins no blocking stream (measured). */
static CUresult alloc_in_order(CUstream stream, CUmemoryPool pool, CUdeviceptr *out, size_t bytes)
{
	uintptr_t at = bytes > sim.memory ? 0 : pool_take(pool, stream, bytes);
	struct block *block;

	if (!at)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = block_new(BLOCK_POOL, stream->ctx, at, bytes);
	block->device = pool->device;
	block->pool = pool;
	block_insert(block);
	stream->ctx->in_order = true;
	*out = at;
	return CUDA_SUCCESS;
}

/* pool: NULL for the current one of the stream's device. */
static CUresult alloc(CUstream stream, CUmemoryPool pool, CUdeviceptr *out, size_t bytes)
{
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!pool)
		pool = current_pool(stream->ctx->device);
	if (!out || !pool_ok(pool))
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytes) {
		*out = 0;
		return CUDA_SUCCESS;
	}
	if (stream->capture)
		return alloc_captured(stream, pool->device, out, bytes);
	return capture_check_legacy(stream) ?: capture_check_unsafe() ?: alloc_in_order(stream, pool, out, bytes);
}

ENTRY_TWINS(cuMemAllocAsync, _ptsz, NEEDS_CONTEXT, TAKES(CUdeviceptr *dptr, size_t bytesize, CUstream hStream),
	    alloc(stream_of(c.ctx, hStream, c.per_thread), NULL, dptr, bytesize))
ENTRY_TWINS(cuMemAllocFromPoolAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
	    refuse_if(!pool, CUDA_ERROR_INVALID_VALUE)
		?: alloc(stream_of(c.ctx, hStream, c.per_thread), pool, dptr, bytesize))

/* Freeing. */

/* The next tenant may have it when this returns, but behind the stream's work: see pool_memory.c. */
static CUresult free_pooled(CUstream stream, struct block *block)
{
	struct work none = {.kind = WORK_NONE};
	struct op *op;
	CUresult r = stream->ctx->sticky ?: queue_submit(stream, &none, NULL, 0, &op);

	if (r)
		return r;
	pool_give(block->pool, block->base, op);
	op_drop(op);
	block_remove(block);
	return CUDA_SUCCESS;
}

/*
 * Ordinary device memory may be given back like this too; it is then freed when the stream gets there. In a capture
 * it is refused (measured).
 */
static CUresult free_async(CUcontext ctx, CUstream handle, bool per_thread, CUdeviceptr dptr)
{
	struct work work = {.kind = WORK_FREE, .memory = dptr};
	CUstream stream = stream_of(ctx, handle, per_thread);
	struct block *block = block_find(dptr);
	CUresult r;

	if (stream && stream->capture)
		return refuse_if(block && block->kind == BLOCK_DEVICE, CUDA_ERROR_INVALID_VALUE)
			   ?: capture_append(stream, &work, NULL);
	r = stream ? capture_check_legacy(stream) ?: capture_check_unsafe() : CUDA_ERROR_INVALID_HANDLE;
	if (r)
		return r;
	if (!dptr)
		return CUDA_SUCCESS;
	if (!block || block->base != dptr || block->freeing)
		return CUDA_ERROR_INVALID_VALUE;
	if (block->kind == BLOCK_MANAGED)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (block->kind == BLOCK_POOL)
		return free_pooled(stream, block);
	if (block->kind != BLOCK_DEVICE && !(block->kind == BLOCK_GRAPH && block->charged))
		return CUDA_ERROR_INVALID_VALUE;
	block->freeing = true;
	r = stream_do(ctx, handle, per_thread, &work);
	if (r)
		block->freeing = false;
	return r;
}

ENTRY_TWINS(cuMemFreeAsync, _ptsz, NEEDS_CONTEXT, TAKES(CUdeviceptr dptr, CUstream hStream),
	    free_async(c.ctx, hStream, c.per_thread, dptr))
