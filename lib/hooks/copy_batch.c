/* Batches of copies. */
#include "lib/hooks/copy.h"

struct batch {
	const CUdeviceptr *dst, *src;
	const size_t *bytes;
	size_t count;
	size_t *failed; /* NULL: not asked for */
};

struct batch_3d {
	const CUDA_MEMCPY3D_BATCH_OP *op;
	size_t count;
	size_t *failed;
};

static void failed_at(size_t i, size_t *failed)
{
	if (failed)
		*failed = i;
}

static bool has_order(CUmemcpySrcAccessOrder order)
{
	return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

static bool refused(const struct batch *b, const char *entry_point)
{
	if (gmod_phase() == GMOD_OFF || !b->dst || !b->src || !b->bytes)
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (gmod_copy_refused(b->dst[i], b->src[i], b->bytes[i], entry_point)) {
			failed_at(i, b->failed);
			return true;
		}
	return false;
}

static bool is_array(const CUmemcpy3DOperand *o)
{
	return o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
}

/* 0: compressed blocks, planes of several sizes, and the like. */
static size_t channel_size(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
	case CU_AD_FORMAT_UNORM_INT8X1:
	case CU_AD_FORMAT_UNORM_INT8X2:
	case CU_AD_FORMAT_UNORM_INT8X4:
	case CU_AD_FORMAT_SNORM_INT8X1:
	case CU_AD_FORMAT_SNORM_INT8X2:
	case CU_AD_FORMAT_SNORM_INT8X4:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
	case CU_AD_FORMAT_UNORM_INT16X1:
	case CU_AD_FORMAT_UNORM_INT16X2:
	case CU_AD_FORMAT_UNORM_INT16X4:
	case CU_AD_FORMAT_SNORM_INT16X1:
	case CU_AD_FORMAT_SNORM_INT16X2:
	case CU_AD_FORMAT_SNORM_INT16X4:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

/* Bytes of an element: in a batch, widths are in elements, of one byte where no array is involved. */
static bool element_size(const CUDA_MEMCPY3D_BATCH_OP *op, size_t *out)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	CUarray array;

	*out = 1;
	if (!is_array(&op->src) && !is_array(&op->dst))
		return true;
	array = is_array(&op->src) ? op->src.op.array.array : op->dst.op.array.array;
	if (!array || !HAVE(cuArray3DGetDescriptor_v2) || NEXT(cuArray3DGetDescriptor_v2)(&d, array) != CUDA_SUCCESS)
		return false;
	*out = channel_size(d.Format) * d.NumChannels;
	return *out;
}

/* One side of a copy, as a batch has it and as a single copy does. */
struct side {
	CUmemorytype type;
	CUarray array;
	CUdeviceptr at;
	size_t x, y, z, pitch, height;
};

static bool side_of(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element, struct side *out)
{
	*out = (struct side){.type = CU_MEMORYTYPE_UNIFIED};
	if (is_array(o)) {
		out->type = CU_MEMORYTYPE_ARRAY;
		out->array = o->op.array.array;
		out->y = o->op.array.offset.y;
		out->z = o->op.array.offset.z;
		return !__builtin_mul_overflow(o->op.array.offset.x, element, &out->x);
	}
	out->at = o->op.ptr.ptr;
	out->height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
	return o->type == CU_MEMCPY_OPERAND_TYPE_POINTER &&
	       !__builtin_mul_overflow(o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width, element, &out->pitch);
}

/* The same as a copy of its own. false: it is not right, or not known to be. */
static bool single_of(const CUDA_MEMCPY3D_BATCH_OP *op, CUDA_MEMCPY3D *out)
{
	struct side src, dst;
	size_t element, width;

	if (!has_order(op->srcAccessOrder) || !op->extent.width || !op->extent.height || !op->extent.depth ||
	    !element_size(op, &element) || __builtin_mul_overflow(op->extent.width, element, &width) ||
	    !side_of(&op->src, &op->extent, element, &src) || !side_of(&op->dst, &op->extent, element, &dst))
		return false;
	*out = (CUDA_MEMCPY3D){
	    .srcMemoryType = src.type,
	    .srcArray = src.array,
	    .srcDevice = src.at,
	    .srcXInBytes = src.x,
	    .srcY = src.y,
	    .srcZ = src.z,
	    .srcPitch = src.pitch,
	    .srcHeight = src.height,
	    .dstMemoryType = dst.type,
	    .dstArray = dst.array,
	    .dstDevice = dst.at,
	    .dstXInBytes = dst.x,
	    .dstY = dst.y,
	    .dstZ = dst.z,
	    .dstPitch = dst.pitch,
	    .dstHeight = dst.height,
	    .WidthInBytes = width,
	    .Height = op->extent.height,
	    .Depth = op->extent.depth,
	};
	return true;
}

static bool refused_3d(const struct batch_3d *b, const char *entry_point)
{
	CUDA_MEMCPY3D copy;

	if (gmod_phase() == GMOD_OFF || !b->op)
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (single_of(&b->op[i], &copy) && gmod_copy_3d_refused(&copy, entry_point)) {
			failed_at(i, b->failed);
			return true;
		}
	return false;
}

static CUresult batch_end(CUresult r, const char *entry_point)
{
	return gmod_copy_end(&(struct gmod_copy){.stream = GMOD_ASYNC, .entry_point = entry_point}, r);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					size_t *failIdx, CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, failIdx};
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	if (!refused(&b, __func__))
		r = NEXT(cuMemcpyBatchAsync)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					     CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					     size_t *failIdx, CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, failIdx};
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	if (!refused(&b, __func__))
		r = NEXT(cuMemcpyBatchAsync_ptsz)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx,
						  hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					   CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					   CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, NULL};
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	if (!refused(&b, __func__))
		r = NEXT(cuMemcpyBatchAsync_v2)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
						CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
						CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, NULL};
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	if (!refused(&b, __func__))
		r = NEXT(cuMemcpyBatchAsync_v2_ptsz)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx,
					  unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, failIdx};
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	if (!refused_3d(&b, __func__))
		r = NEXT(cuMemcpy3DBatchAsync)(numParams, opList, failIdx, flags, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_ptsz(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx,
					       unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, failIdx};
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	if (!refused_3d(&b, __func__))
		r = NEXT(cuMemcpy3DBatchAsync_ptsz)(numParams, opList, failIdx, flags, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList,
					     unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, NULL};
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	if (!refused_3d(&b, __func__))
		r = NEXT(cuMemcpy3DBatchAsync_v2)(numParams, opList, flags, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList,
						  unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, NULL};
	CUresult r = CUDA_ERROR_INVALID_VALUE;

	if (!refused_3d(&b, __func__))
		r = NEXT(cuMemcpy3DBatchAsync_v2_ptsz)(numParams, opList, flags, hStream);
	return batch_end(r, __func__);
}
