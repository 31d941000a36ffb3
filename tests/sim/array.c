/* Arrays: opaque in the API, here rows of device memory. */
#include "sim.h"

#include <stdlib.h>

bool array_ok(CUarray array)
{
	return array && array->magic == MAGIC_ARRAY;
}

static unsigned format_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

static CUresult create(CUcontext ctx, CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
	struct block *block;
	unsigned element;
	size_t bytes;
	CUarray array;
	CUresult r;

	if (!out || !desc->Width || (desc->NumChannels != 1 && desc->NumChannels != 2 && desc->NumChannels != 4))
		return CUDA_ERROR_INVALID_VALUE;
	element = format_bytes(desc->Format) * desc->NumChannels;
	if (!element || __builtin_mul_overflow(desc->Width * element, at_least_one(desc->Height), &bytes) ||
	    __builtin_mul_overflow(bytes, at_least_one(desc->Depth), &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	r = device_alloc(ctx, bytes, &block);
	if (r)
		return r;
	array = calloc(1, sizeof(*array));
	*array = (struct CUarray_st){MAGIC_ARRAY, ctx->arrays, ctx, *desc, block, 0, 0, element};
	array->row = desc->Width * element;
	array->slice = array->row * at_least_one(desc->Height);
	ctx->arrays = array;
	*out = array;
	return CUDA_SUCCESS;
}

static CUresult create_2d(CUcontext ctx, CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
	CUDA_ARRAY3D_DESCRIPTOR desc;

	if (!d)
		return CUDA_ERROR_INVALID_VALUE;
	desc = (CUDA_ARRAY3D_DESCRIPTOR){d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
	return create(ctx, out, &desc);
}

ENTRY(cuArrayCreate_v2, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE,
      TAKES(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray), create_2d(c.ctx, pHandle, pAllocateArray))
ENTRY(cuArray3DCreate_v2, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE,
      TAKES(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray),
      refuse_if(!pAllocateArray, CUDA_ERROR_INVALID_VALUE) ?: create(c.ctx, pHandle, pAllocateArray))

static void unlink_and_free(CUarray array)
{
	UNLINK(array->ctx->arrays, array);
	array->magic = 0;
	free(array);
}

static CUresult destroy(CUarray array)
{
	CUresult r;

	if (!array_ok(array))
		return CUDA_ERROR_INVALID_HANDLE;
	if (array->block->freeing)
		return CUDA_ERROR_INVALID_HANDLE;
	r = block_wait_and_release(array->block);
	if (!r)
		unlink_and_free(array);
	return r;
}

ENTRY(cuArrayDestroy, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE, TAKES(CUarray hArray), destroy(hArray))

/* Their memory goes with the context's other memory. */
void arrays_release_of(CUcontext ctx)
{
	CUarray next;

	for (CUarray array = ctx->arrays; array; array = next) {
		next = array->next;
		array->magic = 0;
		free(array);
	}
	ctx->arrays = NULL;
}

/* The side of a copy that begins x bytes, y rows and z planes into the array. */
CUresult array_operand(CUarray array, size_t x, size_t y, size_t z, struct operand *out)
{
	if (!array_ok(array))
		return CUDA_ERROR_INVALID_HANDLE;
	if (x > array->row || y >= at_least_one(array->desc.Height) || z >= at_least_one(array->desc.Depth))
		return CUDA_ERROR_INVALID_VALUE;
	*out = (struct operand){
	    .type = CU_MEMORYTYPE_DEVICE,
	    .at = array->block->base + z * array->slice + y * array->row + x,
	    .pitch = array->row,
	    .slice = array->slice,
	};
	return CUDA_SUCCESS;
}
