/* Questions about an address. */
#include "sim.h"

#include <fcntl.h>
#include <string.h>

static unsigned memory_type(const struct block *block)
{
	return block_is_host(block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static bool host_can_use(const struct block *block)
{
	return block_is_host(block) || block->kind == BLOCK_MANAGED;
}

/* Memory of pools and mappings is of no context. */
static CUcontext context_of(const struct block *block)
{
	return block->kind == BLOCK_POOL || block->kind == BLOCK_GRAPH ? NULL : block->ctx;
}

struct answer {
	size_t bytes; /* of the value; 0: there is no such attribute */
	unsigned long long value;
};

static struct answer answer_of(const struct block *block, CUdeviceptr at, CUpointer_attribute attribute)
{
	uintptr_t start = block->base;
	size_t size = block->size;

	if (block->kind == BLOCK_VMM)
		reservation_around(at, &start, &size);
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		return (struct answer){8, (uintptr_t)context_of(block)};
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		return (struct answer){4, memory_type(block)};
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		return (struct answer){8, at};
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		return (struct answer){1, block->sync_memops};
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		return (struct answer){8, block->id};
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		return (struct answer){1, block->kind == BLOCK_MANAGED};
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		return (struct answer){4, block->device};
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		return (struct answer){1, block->kind == BLOCK_DEVICE};
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		return (struct answer){8, start};
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		return (struct answer){8, size};
	case CU_POINTER_ATTRIBUTE_MAPPED:
		return (struct answer){1, 1};
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		return (struct answer){8, 0};
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		return (struct answer){1, block->kind == BLOCK_DEVICE || mapping_has_rdma(block)};
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		return (struct answer){4, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE};
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		return (struct answer){8, (uintptr_t)block->pool};
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		return (struct answer){8, block->size};
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		return (struct answer){8, block->base};
	case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
		return (struct answer){1, 0};
	default:
		return (struct answer){0, 0};
	}
}

static CUresult get(const struct block *block, CUdeviceptr at, CUpointer_attribute attribute, void *data)
{
	struct answer a = answer_of(block, at, attribute);

	if (!a.bytes || (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && !host_can_use(block)))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(data, &a.value, a.bytes);
	return CUDA_SUCCESS;
}

static CUresult get_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr at)
{
	struct block *block = block_find(at);

	return data && block ? get(block, at, attribute, data) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuPointerGetAttribute, NEEDS_INIT, TAKES(void *data, CUpointer_attribute attribute, CUdeviceptr ptr),
      get_attribute(data, attribute, ptr))

/* What cuPointerGetAttributes says about memory it does not know, or does not have the attribute of. */
static void set_default(CUpointer_attribute attribute, void *data)
{
	static const struct block none = {.device = NOWHERE};
	const int nowhere = NOWHERE;
	size_t bytes = answer_of(&none, 0, attribute).bytes;

	if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
		memcpy(data, &nowhere, sizeof(nowhere));
	else if (attribute != CU_POINTER_ATTRIBUTE_RANGE_SIZE) /* which is left as it is */
		memset(data, 0, bytes ? bytes : 8);
}

static CUresult get_attributes(unsigned count, const CUpointer_attribute *attributes, void **data, CUdeviceptr at)
{
	struct block *block = block_find(at);

	if (!count || !attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++)
		if (!data[i] || attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
		    attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
			return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++)
		if (!block || get(block, at, attributes[i], data[i]))
			set_default(attributes[i], data[i]);
	return CUDA_SUCCESS;
}

ENTRY(cuPointerGetAttributes, NEEDS_INIT,
      TAKES(unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr),
      get_attributes(numAttributes, attributes, data, ptr))

static CUresult set_attribute(const void *value, CUpointer_attribute attribute, CUdeviceptr at)
{
	struct block *block = block_find(at);

	if (!value || !block || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
		return CUDA_ERROR_INVALID_VALUE;
	if (block->kind == BLOCK_VMM)
		return CUDA_ERROR_NOT_SUPPORTED;
	block->sync_memops = *(const unsigned *)value != 0;
	return CUDA_SUCCESS;
}

ENTRY(cuPointerSetAttribute, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE,
      TAKES(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr), set_attribute(value, attribute, ptr))

static CUresult get_range(CUdeviceptr *base, size_t *size, CUdeviceptr at)
{
	struct block *block = block_find(at);

	if (!block)
		return CUDA_ERROR_NOT_FOUND;
	if (base)
		*base = block->base;
	if (size)
		*size = block->size;
	return CUDA_SUCCESS;
}

ENTRY(cuMemGetAddressRange_v2, NEEDS_CONTEXT, TAKES(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr),
      get_range(pbase, psize, dptr))

/* A file that can be closed: no simulated device could take a dma-buf. */
static CUresult export_range(int *fd)
{
	int made = fcntl(sim_device_arena.fd, F_DUPFD_CLOEXEC, 0);

	if (made < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	*fd = made;
	return CUDA_SUCCESS;
}

static CUresult range_handle(void *handle, CUdeviceptr at, size_t size, CUmemRangeHandleType type)
{
	struct block *block = block_find(at);
	bool known;

	if (!handle || !size || at % sim.page || size % sim.page || type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD ||
	    !block_range_ok(at, size, &known) || !known || block->kind == BLOCK_MANAGED)
		return CUDA_ERROR_INVALID_VALUE;
	if (block->kind != BLOCK_DEVICE && block->kind != BLOCK_VMM)
		return CUDA_ERROR_NOT_SUPPORTED;
	return export_range(handle);
}

ENTRY(cuMemGetHandleForAddressRange, NEEDS_CONTEXT,
      TAKES(void *handle, CUdeviceptr dptr, size_t size, CUmemRangeHandleType handleType, unsigned long long flags),
      range_handle(handle, dptr, size, handleType))
