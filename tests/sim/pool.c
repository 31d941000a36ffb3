/* Memory in stream order: allocating from the pool of the device, freeing behind the work of a stream. */
#include "sim.h"

/* A handle and no more: nobody asks about a pool. Each device has one. */
static CUmemoryPool pool_of(CUdevice device)
{
	return (CUmemoryPool)&sim.device[device];
}

static CUresult device_of(CUmemoryPool pool, CUdevice *out)
{
	for (*out = 0; *out < sim.devices; ++*out)
		if (pool_of(*out) == pool)
			return CUDA_SUCCESS;
	return CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuDeviceGetDefaultMemPool, NEEDS_INIT, TAKES(CUmemoryPool *pool_out, CUdevice dev),
      ANSWER_OF(device_exists(dev), CUDA_ERROR_INVALID_DEVICE, pool_out, pool_of(dev)))

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

/* pool: NULL for that of the stream's device. */
static CUresult alloc(CUstream stream, CUmemoryPool pool, CUdeviceptr *out, size_t bytes)
{
	CUdevice device;
	struct block *block;
	CUresult r;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!pool)
		pool = pool_of(stream->ctx->device);
	if (!out || device_of(pool, &device))
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytes) {
		*out = 0;
		return CUDA_SUCCESS;
	}
	if (stream->capture)
		return alloc_captured(stream, device, out, bytes);
	r = capture_check_legacy(stream) ?: capture_check_unsafe();
	r = r ?: device_alloc(stream->ctx, device, pool, bytes, &block);
	if (r)
		return r;
	*out = block->base;
	return CUDA_SUCCESS;
}

ENTRY_TWINS(cuMemAllocAsync, _ptsz, NEEDS_CONTEXT, TAKES(CUdeviceptr *dptr, size_t bytesize, CUstream hStream),
	    alloc(stream_of(c.ctx, hStream, c.per_thread), NULL, dptr, bytesize))
ENTRY_TWINS(cuMemAllocFromPoolAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
	    refuse_if(!pool, CUDA_ERROR_INVALID_VALUE)
		?: alloc(stream_of(c.ctx, hStream, c.per_thread), pool, dptr, bytesize))

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
