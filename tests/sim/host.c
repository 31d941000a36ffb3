/* Pinned host memory: allocated by the driver, or the program's own and registered. */
#include "sim.h"

static CUresult alloc(CUcontext ctx, void **out, size_t bytes, unsigned flags)
{
	struct block *block;
	uintptr_t at;

	if (!out || (flags & ~7u))
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytes) {
		*out = NULL;
		return CUDA_SUCCESS;
	}
	at = arena_take(&sim_host_arena, bytes);
	if (!at || !arena_open(&sim_host_arena, at, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = block_new(BLOCK_HOST, ctx, at, bytes);
	block->flags = flags;
	block_insert(block);
	*out = (void *)at;
	return CUDA_SUCCESS;
}

ENTRY(cuMemHostAlloc, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE, TAKES(void **pp, size_t bytesize, unsigned int Flags),
      alloc(c.ctx, pp, bytesize, Flags))
ENTRY(cuMemAllocHost_v2, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE, TAKES(void **pp, size_t bytesize),
      alloc(c.ctx, pp, bytesize, 0))

static CUresult free_host(void *p)
{
	struct block *block = block_find((uintptr_t)p);

	if (!p)
		return CUDA_SUCCESS;
	if (!block || block->base != (uintptr_t)p || block->kind != BLOCK_HOST || block->freeing)
		return CUDA_ERROR_INVALID_VALUE;
	return block_wait_and_release(block);
}

ENTRY(cuMemFreeHost, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE, TAKES(void *p), free_host(p))

/* Any known memory may be in the way; pages that the program made accessible inside a reservation are its own. */
static CUresult do_register(CUcontext ctx, void *p, size_t bytes, unsigned flags)
{
	uintptr_t base = (uintptr_t)p;
	struct block *block;

	if (!p || !bytes || (flags & ~0xfu) || base + bytes < base)
		return CUDA_ERROR_INVALID_VALUE;
	block = block_overlap(base, bytes);
	if (block)
		return block->kind == BLOCK_REGISTERED ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
						       : CUDA_ERROR_INVALID_VALUE;
	block = block_new(BLOCK_REGISTERED, ctx, base, bytes);
	block->flags = flags;
	block_insert(block);
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuMemHostRegister, _v2, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE,
	   TAKES(void *p, size_t bytesize, unsigned int Flags), do_register(c.ctx, p, bytesize, Flags))

static CUresult unregister(void *p)
{
	struct block *block = block_find((uintptr_t)p);

	if (block && block->kind != BLOCK_REGISTERED)
		return CUDA_ERROR_INVALID_VALUE;
	if (!block || block->base != (uintptr_t)p || block->freeing)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	return block_wait_and_release(block);
}

ENTRY(cuMemHostUnregister, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE, TAKES(void *p), unregister(p))

/* A mapping takes part as if it were pinned; of its inside the answer is its start. */
static CUresult device_pointer(CUdeviceptr *out, void *p, unsigned flags)
{
	struct block *block = block_find((uintptr_t)p);

	if (!out || flags || !block || (!block_is_host(block) && block->kind != BLOCK_VMM))
		return CUDA_ERROR_INVALID_VALUE;
	*out = block->kind == BLOCK_VMM ? block->base : (uintptr_t)p;
	return CUDA_SUCCESS;
}

ENTRY(cuMemHostGetDevicePointer_v2, NEEDS_CONTEXT, TAKES(CUdeviceptr *pdptr, void *p, unsigned int Flags),
      device_pointer(pdptr, p, Flags))

/* With unified addressing all of it is mapped. What else cuMemHostAlloc was asked for is known of the start only. */
static CUresult get_flags(unsigned *flags, void *p)
{
	struct block *block = block_find((uintptr_t)p);

	if (!flags || !block)
		return CUDA_ERROR_INVALID_VALUE;
	if (block->kind == BLOCK_VMM)
		*flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
	else if (block->kind == BLOCK_MANAGED)
		*flags = CU_MEMHOSTALLOC_DEVICEMAP;
	else if (block_is_host(block))
		*flags = CU_MEMHOSTALLOC_DEVICEMAP |
			 (block->kind == BLOCK_HOST && (uintptr_t)p != block->base ? 0 : block->flags);
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

ENTRY(cuMemHostGetFlags, NEEDS_CONTEXT, TAKES(unsigned int *pFlags, void *p), get_flags(pFlags, p))
