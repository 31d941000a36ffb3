/*
 * Virtual memory management. Physical memory is a range of the device arena's file that is not opened where
 * it lies; mapping it opens the same bytes somewhere else, so that two mappings of it show each other's
 * writes. A mapping is inaccessible until cuMemSetAccess.
 */
#include "sim.h"

#include <stdlib.h>
#include <sys/mman.h>

struct physical {
	struct physical *next;
	uintptr_t at; /* in the arena: where its bytes are in the file */
	size_t size;
	int device;
	int refs; /* handles and mappings */
	CUmemAllocationProp prop;
};

struct reservation {
	struct reservation *next;
	uintptr_t base;
	size_t size;
};

static struct physical *physicals;
static struct reservation *reservations;

static struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
	struct physical *p = physicals;

	while (p && (CUmemGenericAllocationHandle)(uintptr_t)p != handle)
		p = p->next;
	return p;
}

static bool prop_ok(const CUmemAllocationProp *prop)
{
	return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
	       prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE && device_exists(prop->location.id);
}

static CUresult create(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *prop,
		       unsigned long long flags)
{
	struct physical *p;
	uintptr_t at;

	if (!out || !size || size % SIM_CHUNK || flags || !prop_ok(prop))
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_charge(prop->location.id, size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	at = chunks_take(size, true);
	if (!at) {
		device_uncharge(prop->location.id, size);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p = calloc(1, sizeof(*p));
	*p = (struct physical){physicals, at, size, prop->location.id, 1, *prop};
	physicals = p;
	sim.held.physicals++;
	*out = (uintptr_t)p;
	return CUDA_SUCCESS;
}

ENTRY(cuMemCreate, NEEDS_INIT,
      TAKES(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
	    unsigned long long flags),
      create(handle, size, prop, flags))

static void drop(struct physical *p)
{
	if (--p->refs)
		return;
	UNLINK(physicals, p);
	sim.held.physicals--;
	arena_close(&sim_device_arena, p->at, p->size);
	chunks_give(p->at, p->size);
	device_uncharge(p->device, p->size);
	free(p);
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
	struct physical *p = physical_of(handle);

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	drop(p);
	return CUDA_SUCCESS;
}

ENTRY(cuMemRelease, NEEDS_INIT, TAKES(CUmemGenericAllocationHandle handle), release(handle))
ENTRY(cuMemGetAllocationGranularity, NEEDS_INIT,
      TAKES(size_t *granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option),
      ANSWER_OF(prop, CUDA_ERROR_INVALID_VALUE, granularity, SIM_CHUNK))

static CUresult retain(CUmemGenericAllocationHandle *out, uintptr_t at)
{
	struct block *block = block_find(at);

	if (!out || !block || block->kind != BLOCK_VMM)
		return CUDA_ERROR_INVALID_VALUE;
	block->physical->refs++;
	*out = (uintptr_t)block->physical;
	return CUDA_SUCCESS;
}

ENTRY(cuMemRetainAllocationHandle, NEEDS_INIT, TAKES(CUmemGenericAllocationHandle *handle, void *addr),
      retain(handle, (uintptr_t)addr))

/* Addresses. */

static CUresult reserve(CUdeviceptr *out, size_t size, unsigned long long flags)
{
	struct reservation *r;
	uintptr_t at;

	if (!out || !size || size % SIM_CHUNK || flags)
		return CUDA_ERROR_INVALID_VALUE;
	at = chunks_take(size, true);
	if (!at)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = calloc(1, sizeof(*r));
	*r = (struct reservation){reservations, at, size};
	reservations = r;
	sim.held.reservations++;
	*out = at;
	return CUDA_SUCCESS;
}

/* The wished-for address is a hint, and alignment beyond a chunk is not given. */
ENTRY(cuMemAddressReserve, NEEDS_INIT,
      TAKES(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned long long flags),
      refuse_if(alignment > SIM_CHUNK, CUDA_ERROR_NOT_SUPPORTED) ?: reserve(ptr, size, flags))

/* What is mapped or registered there has to go first. */
static CUresult unreserve(CUdeviceptr at, size_t size)
{
	struct reservation **link = &reservations, *r;

	while (*link && (*link)->base != at)
		link = &(*link)->next;
	r = *link;
	if (!r || r->size != size)
		return CUDA_ERROR_INVALID_VALUE;
	if (block_overlap(at, size))
		return CUDA_ERROR_INVALID_VALUE;
	*link = r->next;
	sim.held.reservations--;
	range_close(r->base, r->size); /* the program may have made pages between its mappings accessible */
	chunks_give(r->base, r->size);
	free(r);
	return CUDA_SUCCESS;
}

ENTRY(cuMemAddressFree, NEEDS_INIT, TAKES(CUdeviceptr ptr, size_t size), unreserve(ptr, size))

bool reservation_around(uintptr_t at, uintptr_t *base, size_t *size)
{
	for (struct reservation *r = reservations; r; r = r->next)
		if (at >= r->base && at - r->base < r->size) {
			*base = r->base;
			*size = r->size;
			return true;
		}
	return false;
}

static bool reserved(CUdeviceptr at, size_t bytes)
{
	uintptr_t base;
	size_t size;

	return reservation_around(at, &base, &size) && bytes <= size - (at - base);
}

/* Mappings belong to no context: they live until they are unmapped. */
static CUresult map(CUdeviceptr at, size_t size, size_t offset, struct physical *p)
{
	struct block *block;

	if (!p || !size || at % SIM_CHUNK || size % SIM_CHUNK || offset || size > p->size || !reserved(at, size))
		return CUDA_ERROR_INVALID_VALUE;
	if (block_overlap(at, size))
		return CUDA_ERROR_INVALID_VALUE;
	if (mmap((void *)at, size, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, sim_device_arena.fd,
		 (off_t)(p->at - sim_device_arena.base)) == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = block_new(BLOCK_VMM, NULL, at, size);
	block->device = p->device;
	block->physical = p;
	p->refs++;
	block_insert(block);
	return CUDA_SUCCESS;
}

ENTRY(cuMemMap, NEEDS_INIT,
      TAKES(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags),
      refuse_if(flags, CUDA_ERROR_INVALID_VALUE) ?: map(ptr, size, offset, physical_of(handle)))

bool mapping_has_rdma(const struct block *block)
{
	return block->kind == BLOCK_VMM && block->physical->prop.allocFlags.gpuDirectRDMACapable;
}

void physical_unmap(struct block *block)
{
	range_close(block->base, block->size);
	drop(block->physical);
}

/* Is the range made of whole mappings? */
static bool whole_mappings(CUdeviceptr at, size_t size)
{
	CUdeviceptr end = at + size;

	while (at < end) {
		struct block *block = block_find(at);

		if (!block || block->kind != BLOCK_VMM || block->base != at)
			return false;
		at += block->size;
	}
	return at == end && size > 0;
}

/* Nobody waits: a kernel that still uses the memory faults. */
static CUresult unmap(CUdeviceptr at, size_t size)
{
	CUdeviceptr end = at + size;

	if (!whole_mappings(at, size))
		return CUDA_ERROR_INVALID_VALUE;
	while (at < end) {
		struct block *block = block_find(at);

		at += block->size;
		block_release(block);
	}
	return CUDA_SUCCESS;
}

ENTRY(cuMemUnmap, NEEDS_INIT, TAKES(CUdeviceptr ptr, size_t size), unmap(ptr, size))

static bool desc_ok(const CUmemAccessDesc *desc)
{
	return desc->location.type == CU_MEM_LOCATION_TYPE_DEVICE && device_exists(desc->location.id);
}

/* Each device has rights of its own, which it keeps where it is not named. Copies and fills may do what any of them
 * may. */
static CUresult set_access(CUdeviceptr at, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	if (!desc || !count || !whole_mappings(at, size))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++)
		if (!desc_ok(&desc[i]))
			return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++)
		access_give(at, size, desc[i].location.id, desc[i].flags & CU_MEM_ACCESS_FLAGS_PROT_READ,
			    desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	for (size_t chunk = 0; chunk < size; chunk += SIM_CHUNK)
		if (mprotect((void *)(at + chunk), SIM_CHUNK, access_protection(at + chunk)))
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

ENTRY(cuMemSetAccess, NEEDS_INIT, TAKES(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count),
      set_access(ptr, size, desc, count))
