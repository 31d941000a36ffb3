/*
 * Batches of copies. One in a stream of a green context ends in a fault inside driver 580 where it has memory that
 * belongs to no context, mapped or of a pool: it reads through a null pointer (measured; a single copy is fine). What
 * GMOD maps is such memory, and what the program would have had is not. So a batch there is given copy by copy.
 */
#include "lib/capture.h"
#include "lib/copied.h"

struct batch {
	const CUdeviceptr *dst, *src;
	const size_t *bytes;
	size_t count;
	const CUmemcpyAttributes *attributes;
	const size_t *first_of_attribute;
	size_t attribute_count;
	size_t *failed; /* NULL: not asked for */
	CUstream stream;
};

struct batch_3d {
	const CUDA_MEMCPY3D_BATCH_OP *op;
	size_t count;
	unsigned long long flags;
	size_t *failed;
	CUstream stream;
};

static bool refused(const struct batch *b, const char *entry_point)
{
	if (gmod_phase() == GMOD_OFF || !b->dst || !b->src || !b->bytes)
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (gmod_copy_refused(b->dst[i], b->src[i], b->bytes[i], entry_point))
			return true;
	return false;
}

/* Default streams are not a green context's, or refused there. */
static bool is_green(CUstream stream)
{
	struct gmod_home home;

	return gmod_phase() != GMOD_OFF && gmod_handle(stream) > (uint64_t)GMOD_KEY_PER_THREAD &&
	       gmod_stream_home(stream, &home) && home.green;
}

static bool has_order(CUmemcpySrcAccessOrder order)
{
	return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* Whatever is not right is left to the driver, which says so. */
static bool is_well_formed(const struct batch *b)
{
	if (!b->dst || !b->src || !b->bytes || !b->count || !b->attributes || !b->first_of_attribute ||
	    !b->attribute_count || b->attribute_count > b->count || b->first_of_attribute[0])
		return false;
	for (size_t i = 0; i < b->attribute_count; i++)
		if (!has_order(b->attributes[i].srcAccessOrder) || b->first_of_attribute[i] >= b->count ||
		    (i && b->first_of_attribute[i] <= b->first_of_attribute[i - 1]))
			return false;
	return true;
}

/* Single copies read their sources in stream order; those of ephemeral ones have to be over when the call returns. */
static CUresult finish(CUstream stream, bool ephemeral)
{
	CUstreamCaptureMode mode;
	CUresult r;

	if (!ephemeral || gmod_is_captured(stream, GMOD_LEGACY))
		return CUDA_SUCCESS;
	mode = gmod_relaxed_begin();
	r = NEXT(cuStreamSynchronize)(stream);
	gmod_relaxed_end(mode);
	return r;
}

static CUresult failed_at(size_t i, CUresult r, size_t *failed)
{
	if (failed)
		*failed = i;
	return r;
}

static CUresult copy_singly(const struct batch *b)
{
	bool ephemeral = false;

	for (size_t i = 0; i < b->count; i++) {
		CUresult r = NEXT(cuMemcpyAsync)(b->dst[i], b->src[i], b->bytes[i], b->stream);

		if (r != CUDA_SUCCESS)
			return failed_at(i, r, b->failed);
	}
	for (size_t i = 0; i < b->attribute_count; i++)
		ephemeral |= b->attributes[i].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
	return finish(b->stream, ephemeral);
}

static CUarray array_of(const CUmemcpy3DOperand *o)
{
	return o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? o->op.array.array : NULL;
}

/* Bytes of an element: in a batch, widths are in elements, of one byte where no array is involved. */
static bool element_size(const CUDA_MEMCPY3D_BATCH_OP *op, size_t *out)
{
	CUarray array = array_of(&op->src) ? array_of(&op->src) : array_of(&op->dst);
	CUDA_ARRAY3D_DESCRIPTOR d;

	*out = 1;
	if (!array)
		return true;
	if (!HAVE(cuArray3DGetDescriptor_v2) || NEXT(cuArray3DGetDescriptor_v2)(&d, array) != CUDA_SUCCESS)
		return false;
	switch (d.Format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		*out = d.NumChannels;
		return true;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		*out = 2 * (size_t)d.NumChannels;
		return true;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		*out = 4 * (size_t)d.NumChannels;
		return true;
	default: /* compressed blocks and planes of several sizes */
		return false;
	}
}

/* One side of a copy, as a batch has it and as a single copy does. */
#define SIDE(copy, side, operand, extent, element) \
	do { \
		const CUmemcpy3DOperand *o_ = (operand); \
		if (array_of(o_)) { \
			(copy)->side##MemoryType = CU_MEMORYTYPE_ARRAY; \
			(copy)->side##Array = o_->op.array.array; \
			(copy)->side##XInBytes = o_->op.array.offset.x * (element); \
			(copy)->side##Y = o_->op.array.offset.y; \
			(copy)->side##Z = o_->op.array.offset.z; \
		} else { \
			(copy)->side##MemoryType = CU_MEMORYTYPE_UNIFIED; \
			(copy)->side##Device = o_->op.ptr.ptr; \
			(copy)->side##Pitch = (o_->op.ptr.rowLength ?: (extent)->width) * (element); \
			(copy)->side##Height = o_->op.ptr.layerHeight ?: (extent)->height; \
		} \
	} while (0)

static bool single_of(const CUDA_MEMCPY3D_BATCH_OP *op, CUDA_MEMCPY3D *out)
{
	size_t element;

	if (!has_order(op->srcAccessOrder) || !op->extent.width || !op->extent.height || !op->extent.depth ||
	    !element_size(op, &element))
		return false;
	*out = (CUDA_MEMCPY3D){
	    .WidthInBytes = op->extent.width * element, .Height = op->extent.height, .Depth = op->extent.depth};
	SIDE(out, src, &op->src, &op->extent, element);
	SIDE(out, dst, &op->dst, &op->extent, element);
	return true;
}

static bool is_well_formed_3d(const struct batch_3d *b)
{
	CUDA_MEMCPY3D copy;

	if (!b->op || !b->count || b->flags)
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (!single_of(&b->op[i], &copy))
			return false;
	return true;
}

static CUresult copy_singly_3d(const struct batch_3d *b)
{
	bool ephemeral = false;
	CUDA_MEMCPY3D copy;

	for (size_t i = 0; i < b->count; i++) {
		CUresult r =
		    single_of(&b->op[i], &copy) ? NEXT(cuMemcpy3DAsync_v2)(&copy, b->stream) : CUDA_ERROR_INVALID_VALUE;

		if (r != CUDA_SUCCESS)
			return failed_at(i, r, b->failed);
		ephemeral |= b->op[i].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
	}
	return finish(b->stream, ephemeral);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					size_t *failIdx, CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream};
	CUresult r;

	if (refused(&b, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	if (is_green(hStream) && is_well_formed(&b))
		r = copy_singly(&b);
	else
		r = NEXT(cuMemcpyBatchAsync)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream);
	return gmod_copied(r, 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					     CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					     size_t *failIdx, CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream};
	CUresult r;

	if (refused(&b, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	if (is_green(hStream) && is_well_formed(&b))
		r = copy_singly(&b);
	else
		r = NEXT(cuMemcpyBatchAsync_ptsz)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx,
						  hStream);
	return gmod_copied(r, 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					   CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					   CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, NULL, hStream};
	CUresult r;

	if (refused(&b, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	if (is_green(hStream) && is_well_formed(&b))
		r = copy_singly(&b);
	else
		r = NEXT(cuMemcpyBatchAsync_v2)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream);
	return gmod_copied(r, 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
						CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
						CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, NULL, hStream};
	CUresult r;

	if (refused(&b, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	if (is_green(hStream) && is_well_formed(&b))
		r = copy_singly(&b);
	else
		r = NEXT(cuMemcpyBatchAsync_v2_ptsz)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream);
	return gmod_copied(r, 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx,
					  unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, flags, failIdx, hStream};
	CUresult r;

	if (is_green(hStream) && is_well_formed_3d(&b))
		r = copy_singly_3d(&b);
	else
		r = NEXT(cuMemcpy3DBatchAsync)(numParams, opList, failIdx, flags, hStream);
	return gmod_copied(r, 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_ptsz(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx,
					       unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, flags, failIdx, hStream};
	CUresult r;

	if (is_green(hStream) && is_well_formed_3d(&b))
		r = copy_singly_3d(&b);
	else
		r = NEXT(cuMemcpy3DBatchAsync_ptsz)(numParams, opList, failIdx, flags, hStream);
	return gmod_copied(r, 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList,
					     unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, flags, NULL, hStream};
	CUresult r;

	if (is_green(hStream) && is_well_formed_3d(&b))
		r = copy_singly_3d(&b);
	else
		r = NEXT(cuMemcpy3DBatchAsync_v2)(numParams, opList, flags, hStream);
	return gmod_copied(r, 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList,
						  unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, flags, NULL, hStream};
	CUresult r;

	if (is_green(hStream) && is_well_formed_3d(&b))
		r = copy_singly_3d(&b);
	else
		r = NEXT(cuMemcpy3DBatchAsync_v2_ptsz)(numParams, opList, flags, hStream);
	return gmod_copied(r, 0, 0, 0, __func__);
}
