/* Batches of copies: one that is refused takes all of them along, and says which one it is. */
#include "lib/hooks/copy.h"

/* failed: NULL where the entry point does not tell. */
static struct gmod_copy batch_begin(const CUdeviceptr *dst, const CUdeviceptr *src, const size_t *sizes, size_t count,
				    size_t *failed, const char *entry_point)
{
	struct gmod_copy c = {.stream = GMOD_ASYNC, .entry_point = entry_point};

	if (gmod_phase() == GMOD_OFF || !dst || !src || !sizes)
		return c;
	for (size_t i = 0; !c.refused && i < count; i++) {
		c.refused = gmod_copy_refused(dst[i], src[i], sizes[i], entry_point);
		if (c.refused && failed)
			*failed = i;
	}
	return c;
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

static bool side_of(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element, struct gmod_box_side *out)
{
	*out = (struct gmod_box_side){.base = 0};
	if (is_array(o))
		return true;
	out->base = o->op.ptr.ptr;
	out->height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
	return o->type == CU_MEMCPY_OPERAND_TYPE_POINTER &&
	       !__builtin_mul_overflow(o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width, element, &out->pitch);
}

static bool has_order(CUmemcpySrcAccessOrder order)
{
	return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* false: it is not right, or not known to be. */
static bool box_of(const CUDA_MEMCPY3D_BATCH_OP *op, struct gmod_box *out)
{
	size_t element;

	out->height = op->extent.height;
	out->depth = op->extent.depth;
	return has_order(op->srcAccessOrder) && element_size(op, &element) &&
	       !__builtin_mul_overflow(op->extent.width, element, &out->width) &&
	       side_of(&op->src, &op->extent, element, &out->src) && side_of(&op->dst, &op->extent, element, &out->dst);
}

static struct gmod_copy boxes_begin(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, size_t *failed,
				    const char *entry_point)
{
	struct gmod_copy c = {.stream = GMOD_ASYNC, .entry_point = entry_point};
	struct gmod_box b;

	if (gmod_phase() == GMOD_OFF || !ops)
		return c;
	for (size_t i = 0; !c.refused && i < count; i++) {
		c.refused = box_of(&ops[i], &b) && gmod_box_refused(&b, entry_point);
		if (c.refused && failed)
			*failed = i;
	}
	return c;
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr *dst, CUdeviceptr *src, size_t *sizes, size_t count,
					CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count,
					size_t *failed, CUstream stream)
{
	struct gmod_copy c = batch_begin(dst, src, sizes, count, failed, __func__);

	if (c.refused)
		return GMOD_REFUSED;
	return gmod_copy_end(
	    &c, NEXT(cuMemcpyBatchAsync)(dst, src, sizes, count, attributes, first, attribute_count, failed, stream));
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dst, CUdeviceptr *src, size_t *sizes, size_t count,
					     CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count,
					     size_t *failed, CUstream stream)
{
	struct gmod_copy c = batch_begin(dst, src, sizes, count, failed, __func__);

	if (c.refused)
		return GMOD_REFUSED;
	return gmod_copy_end(&c, NEXT(cuMemcpyBatchAsync_ptsz)(dst, src, sizes, count, attributes, first,
							       attribute_count, failed, stream));
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dst, CUdeviceptr *src, size_t *sizes, size_t count,
					   CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count,
					   CUstream stream)
{
	struct gmod_copy c = batch_begin(dst, src, sizes, count, NULL, __func__);

	if (c.refused)
		return GMOD_REFUSED;
	return gmod_copy_end(
	    &c, NEXT(cuMemcpyBatchAsync_v2)(dst, src, sizes, count, attributes, first, attribute_count, stream));
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dst, CUdeviceptr *src, size_t *sizes, size_t count,
						CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count,
						CUstream stream)
{
	struct gmod_copy c = batch_begin(dst, src, sizes, count, NULL, __func__);

	if (c.refused)
		return GMOD_REFUSED;
	return gmod_copy_end(
	    &c, NEXT(cuMemcpyBatchAsync_v2_ptsz)(dst, src, sizes, count, attributes, first, attribute_count, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
					  unsigned long long flags, CUstream stream)
{
	struct gmod_copy c = boxes_begin(ops, count, failed, __func__);

	if (c.refused)
		return GMOD_REFUSED;
	return gmod_copy_end(&c, NEXT(cuMemcpy3DBatchAsync)(count, ops, failed, flags, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
					       unsigned long long flags, CUstream stream)
{
	struct gmod_copy c = boxes_begin(ops, count, failed, __func__);

	if (c.refused)
		return GMOD_REFUSED;
	return gmod_copy_end(&c, NEXT(cuMemcpy3DBatchAsync_ptsz)(count, ops, failed, flags, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
					     CUstream stream)
{
	struct gmod_copy c = boxes_begin(ops, count, NULL, __func__);

	if (c.refused)
		return GMOD_REFUSED;
	return gmod_copy_end(&c, NEXT(cuMemcpy3DBatchAsync_v2)(count, ops, flags, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
						  CUstream stream)
{
	struct gmod_copy c = boxes_begin(ops, count, NULL, __func__);

	if (c.refused)
		return GMOD_REFUSED;
	return gmod_copy_end(&c, NEXT(cuMemcpy3DBatchAsync_v2_ptsz)(count, ops, flags, stream));
}
