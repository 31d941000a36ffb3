/* Memory of the device: accounting, allocation, and the frees that wait. */
#include "sim.h"

#include <stdlib.h>

/* What pools keep gives way, what is kept of managed memory, and then what is resident of it. */
bool device_charge(int device, size_t bytes)
{
	struct device *d = &sim.device[device];
	size_t free_bytes;

	if (bytes > sim.memory - d->used)
		pools_trim_all_of(device);
	if (bytes > sim.memory - d->used)
		return false;
	free_bytes = device_free_memory(device);
	if (bytes > free_bytes)
		d->kept -= bytes - free_bytes < d->kept ? bytes - free_bytes : d->kept;
	d->used += bytes;
	return true;
}

void device_uncharge(int device, size_t bytes)
{
	sim.device[device].used -= bytes;
}

static size_t chunks(size_t bytes)
{
	return (bytes + SIM_CHUNK - 1) / SIM_CHUNK * SIM_CHUNK;
}

/* Two MiB and more: chunks of its own. */
static uintptr_t large_alloc(int device, size_t bytes)
{
	uintptr_t at;

	if (!device_charge(device, chunks(bytes)))
		return 0;
	at = chunks_take(bytes, false);
	if (at && arena_open(&sim_device_arena, at, bytes)) {
		access_open(at, bytes, device, false);
		return at;
	}
	device_uncharge(device, chunks(bytes));
	return 0;
}

CUresult device_alloc(CUcontext ctx, size_t bytes, struct block **out)
{
	struct slab *slab = NULL;
	struct block *block;
	uintptr_t at = 0;

	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes > sim.memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (bytes < SIM_CHUNK)
		slab = slab_alloc(ctx, ctx->device, bytes, &at);
	else
		at = large_alloc(ctx->device, bytes);
	if (!at)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = block_new(BLOCK_DEVICE, ctx, at, bytes);
	block->slab = slab;
	block->charged = slab ? 0 : chunks(bytes);
	block_insert(block);
	*out = block;
	return CUDA_SUCCESS;
}

/* A graph's allocation: the address range is taken when the node is made, so that other nodes can name it; the
 * memory is there from when the node runs until it is freed. */
CUresult graph_reserve(CUcontext ctx, int device, size_t bytes, CUdeviceptr *out)
{
	uintptr_t at = chunks_take(bytes, true);
	struct block *block;

	if (!at)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = block_new(BLOCK_GRAPH, ctx, at, bytes);
	block->device = device;
	block_insert(block);
	*out = at;
	return CUDA_SUCCESS;
}

CUresult graph_map(uintptr_t at)
{
	struct block *block = block_find(at);

	if (!block || block->kind != BLOCK_GRAPH || block->charged ||
	    !device_charge(block->device, chunks(block->size)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	block->charged = chunks(block->size);
	block->freeing = false;
	arena_open(&sim_device_arena, at, block->size);
	access_open(at, block->size, block->device, true);
	return CUDA_SUCCESS;
}

static void graph_unmap(struct block *block)
{
	if (block->charged)
		arena_close(&sim_device_arena, block->base, block->size);
	device_uncharge(block->device, block->charged);
	block->charged = 0;
	block->freeing = false;
}

static void graph_forget(struct block *block)
{
	graph_unmap(block);
	chunks_give(block->base, block->size);
	block_remove(block);
}

static void release_device(struct block *block)
{
	if (block->slab) {
		slab_free(block->slab, block->base, block->size);
		return;
	}
	arena_close(&sim_device_arena, block->base, block->size);
	chunks_give(block->base, block->size);
	device_uncharge(block->device, block->charged);
}

static void release_host(struct block *block)
{
	arena_close(&sim_host_arena, block->base, block->size);
	arena_give(&sim_host_arena, block->base, block->size);
}

/* The memory goes, and with it the record. */
void block_release(struct block *block)
{
	switch (block->kind) {
	case BLOCK_DEVICE:
		release_device(block);
		break;
	case BLOCK_POOL:
		pool_give(block->pool, block->base, NULL);
		break;
	case BLOCK_GRAPH:
		graph_unmap(block);
		return; /* the graph may run again */
	case BLOCK_MANAGED:
		pages_forget(block);
		release_host(block);
		break;
	case BLOCK_HOST:
		release_host(block);
		break;
	case BLOCK_VMM:
		physical_unmap(block);
		break;
	case BLOCK_IPC:
		ipc_unmap(block);
		break;
	case BLOCK_REGISTERED:
	case BLOCK_GLOBAL:
		break;
	}
	block_remove(block);
}

void blocks_release_of(CUcontext ctx)
{
	struct block *next;

	for (struct block *b = block_first(); b; b = next) {
		next = b->next;
		if (b->ctx != ctx)
			continue;
		if (b->kind == BLOCK_GRAPH)
			graph_forget(b);
		else
			block_release(b);
	}
}

/* Wait for all work of the context, then free. Until then nobody else may free it, and it is there. */
CUresult block_wait_and_release(struct block *block)
{
	uintptr_t base = block->base;
	unsigned long long id = block->id;
	CUresult r;

	block->freeing = true;
	r = queue_wait_context(block->ctx);
	block = block_find(base);
	if (!block || block->id != id)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	if (r)
		block->freeing = false;
	else
		block_release(block);
	return r;
}

static CUresult alloc(CUcontext ctx, CUdeviceptr *out, size_t bytes)
{
	struct block *block;
	CUresult r = out ? device_alloc(ctx, bytes, &block) : CUDA_ERROR_INVALID_VALUE;

	if (!r)
		*out = block->base;
	return r;
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	struct call c = ENTER(cuMemAlloc_v2, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE);

	/* In a context that has faulted the driver says NULL besides. */
	if (c.ctx && c.ctx->sticky && dptr)
		*dptr = 0;
	return sim_leave(&c, c.refused ?: alloc(c.ctx, dptr, bytesize));
}

static CUresult alloc_pitch(CUcontext ctx, CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
			    unsigned element)
{
	size_t row = (width + SIM_UNIT - 1) / SIM_UNIT * SIM_UNIT, bytes;
	CUresult r;

	if (!out || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	if (row < width || __builtin_mul_overflow(row, height, &bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = alloc(ctx, out, bytes);
	if (!r)
		*pitch = row;
	return r;
}

ENTRY(cuMemAllocPitch_v2, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE,
      TAKES(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height, unsigned int ElementSizeBytes),
      alloc_pitch(c.ctx, dptr, pPitch, WidthInBytes, Height, ElementSizeBytes))

static bool freed_by_mem_free(const struct block *block)
{
	return block->kind == BLOCK_DEVICE || block->kind == BLOCK_MANAGED || block->kind == BLOCK_POOL ||
	       (block->kind == BLOCK_GRAPH && block->charged);
}

/* Pool memory goes without waiting for anything, and at once (measured). */
static CUresult free_memory(CUdeviceptr dptr)
{
	struct block *block = block_find(dptr);

	if (!dptr)
		return CUDA_SUCCESS;
	if (!block || block->base != dptr || !freed_by_mem_free(block) || block->freeing)
		return CUDA_ERROR_INVALID_VALUE;
	if (block->kind != BLOCK_POOL)
		return block_wait_and_release(block);
	block_release(block);
	return CUDA_SUCCESS;
}

ENTRY(cuMemFree_v2, USES_CONTEXT | UNSAFE_IN_CAPTURE, TAKES(CUdeviceptr dptr), free_memory(dptr))

static CUresult get_info(CUcontext ctx, size_t *free_bytes, size_t *total)
{
	if (free_bytes)
		*free_bytes = device_free_memory(ctx->device);
	if (total)
		*total = sim.memory;
	return CUDA_SUCCESS;
}

ENTRY(cuMemGetInfo_v2, NEEDS_CONTEXT, TAKES(size_t *free, size_t *total), get_info(c.ctx, free, total))
