/* Batches of copies: one that is refused takes all of them along, and says which one it is. */
#include "lib/hooks/copy.h"

/* failed: NULL where the entry point does not tell. */
static struct gmod_copy batch_begin(const CUdeviceptr *dst, const CUdeviceptr *src, const size_t *sizes, size_t count,
				    size_t *failed, const char *entry_point)
{
	struct gmod_copy c = {.entry_point = entry_point};

	gmod_ordered_passed();
	if (gmod_phase() == GMOD_OFF || !dst || !src || !sizes)
		return c;
	for (size_t i = 0; !c.refused && i < count; i++) {
		c.refused = gmod_copy_refused(dst[i], src[i], sizes[i], entry_point);
		if (c.refused && failed)
			*failed = i;
	}
	return c;
}

static bool side_of(const CUmemcpy3DOperand *o, const CUextent3D *extent, struct gmod_box_side *out)
{
	out->base = o->op.ptr.ptr;
	out->pitch = o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width;
	out->height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
	return o->type == CU_MEMCPY_OPERAND_TYPE_POINTER;
}

/* false: an array is one side, so that widths are in its elements. The driver alone judges those. */
static bool box_of(const CUDA_MEMCPY3D_BATCH_OP *op, struct gmod_box *out)
{
	*out = (struct gmod_box){.width = op->extent.width, .height = op->extent.height, .depth = op->extent.depth};
	return side_of(&op->src, &op->extent, &out->src) && side_of(&op->dst, &op->extent, &out->dst);
}

static struct gmod_copy boxes_begin(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, size_t *failed,
				    const char *entry_point)
{
	struct gmod_copy c = {.entry_point = entry_point};
	struct gmod_box b;

	gmod_ordered_passed();
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

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpyBatchAsync)(dst, src, sizes, count, attributes, first,
								      attribute_count, failed, stream));
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dst, CUdeviceptr *src, size_t *sizes, size_t count,
					     CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count,
					     size_t *failed, CUstream stream)
{
	struct gmod_copy c = batch_begin(dst, src, sizes, count, failed, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpyBatchAsync_ptsz)(dst, src, sizes, count, attributes, first,
									   attribute_count, failed, stream));
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dst, CUdeviceptr *src, size_t *sizes, size_t count,
					   CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count,
					   CUstream stream)
{
	struct gmod_copy c = batch_begin(dst, src, sizes, count, NULL, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpyBatchAsync_v2)(dst, src, sizes, count, attributes, first,
									 attribute_count, stream));
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dst, CUdeviceptr *src, size_t *sizes, size_t count,
						CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count,
						CUstream stream)
{
	struct gmod_copy c = batch_begin(dst, src, sizes, count, NULL, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpyBatchAsync_v2_ptsz)(dst, src, sizes, count, attributes, first,
									      attribute_count, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
					  unsigned long long flags, CUstream stream)
{
	struct gmod_copy c = boxes_begin(ops, count, failed, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpy3DBatchAsync)(count, ops, failed, flags, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
					       unsigned long long flags, CUstream stream)
{
	struct gmod_copy c = boxes_begin(ops, count, failed, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpy3DBatchAsync_ptsz)(count, ops, failed, flags, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
					     CUstream stream)
{
	struct gmod_copy c = boxes_begin(ops, count, NULL, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3DBatchAsync_v2)(count, ops, flags, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
						  CUstream stream)
{
	struct gmod_copy c = boxes_begin(ops, count, NULL, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpy3DBatchAsync_v2_ptsz)(count, ops, flags, stream));
}

/* One alone. */
static CUresult copy_one(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attributes, CUstream stream,
			 PFN_cuMemcpyWithAttributesAsync_v13020 next, const char *entry_point)
{
	struct gmod_copy c = batch_begin(&dst, &src, &size, 1, NULL, entry_point);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, next(dst, src, size, attributes, stream));
}

GMOD_EXPORT CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size,
						 CUmemcpyAttributes *attributes, CUstream stream)
{
	return copy_one(dst, src, size, attributes, stream, NEXT(cuMemcpyWithAttributesAsync), __func__);
}

GMOD_EXPORT CUresult cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size,
						      CUmemcpyAttributes *attributes, CUstream stream)
{
	return copy_one(dst, src, size, attributes, stream, NEXT(cuMemcpyWithAttributesAsync_ptsz), __func__);
}

static CUresult copy_one_box(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream stream,
			     PFN_cuMemcpy3DWithAttributesAsync_v13020 next, const char *entry_point)
{
	struct gmod_copy c = boxes_begin(op, 1, NULL, entry_point);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, next(op, flags, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
						   CUstream stream)
{
	return copy_one_box(op, flags, stream, NEXT(cuMemcpy3DWithAttributesAsync), __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
							CUstream stream)
{
	return copy_one_box(op, flags, stream, NEXT(cuMemcpy3DWithAttributesAsync_ptsz), __func__);
}
