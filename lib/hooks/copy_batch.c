/*
 * Batches of copies. One in a stream of a green context ends in a fault inside driver 580 where it has memory that
 * belongs to no context, mapped or of a pool: it reads through a null pointer (measured; a single copy is fine). What
 * GMOD maps is such memory, and what the program would have had is not. So a batch with a mapped buffer is given there
 * copy by copy.
 */
#include "lib/context/capture.h"
#include "lib/hooks/copy.h"
#include "lib/buffers/stand_in.h"

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

/* SIZE_MAX: none of the copies. */
static void failed_at(size_t i, size_t *failed)
{
	if (failed)
		*failed = i;
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

/* Default streams are not a green context's, or refused there. */
static bool is_green(CUstream stream)
{
	struct gmod_home home;

	return gmod_handle(stream) > (uint64_t)GMOD_KEY_PER_THREAD && gmod_stream_home(stream, &home) == CUDA_SUCCESS &&
	       home.green;
}

static bool has_order(CUmemcpySrcAccessOrder order)
{
	return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

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

static bool has_mapped(const struct batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (gmod_is_mapped_buffer(b->dst[i]) || gmod_is_mapped_buffer(b->src[i]))
			return true;
	return false;
}

static bool goes_singly(const struct batch *b)
{
	return gmod_phase() != GMOD_OFF && b->dst && b->src && b->bytes && has_mapped(b) && is_green(b->stream);
}

/* A batch that goes copy by copy. */
struct singles {
	CUresult (*copy)(const void *batch, size_t i);
	const void *batch;
	size_t count, *failed;
	CUstream stream;
	bool ephemeral; /* sources that may be gone when the call returns */
};

/* Single copies read their sources in stream order; those of ephemeral ones have to be over when the call returns. */
static CUresult finish(const struct singles *s)
{
	CUstreamCaptureMode mode;
	CUresult r;

	if (!s->ephemeral)
		return CUDA_SUCCESS;
	mode = gmod_relaxed_begin();
	r = NEXT(cuStreamSynchronize)(s->stream);
	gmod_relaxed_end(mode);
	return r;
}

static CUresult copy_each(const struct singles *s)
{
	CUresult r = CUDA_SUCCESS, finished;

	/* like a batch, which captures refuse and go on */
	if (gmod_is_captured(s->stream, GMOD_LEGACY))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	for (size_t i = 0; r == CUDA_SUCCESS && i < s->count; i++) {
		r = s->copy(s->batch, i);
		if (r != CUDA_SUCCESS)
			failed_at(i, s->failed);
	}
	finished = finish(s);
	return r == CUDA_SUCCESS ? finished : r;
}

static bool is_ephemeral(const struct batch *b)
{
	for (size_t i = 0; i < b->attribute_count; i++)
		if (b->attributes[i].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
			return true;
	return false;
}

static CUresult copy_one(const void *batch, size_t i)
{
	const struct batch *b = batch;

	return NEXT(cuMemcpyAsync)(b->dst[i], b->src[i], b->bytes[i], b->stream);
}

static CUresult copy_singly(const struct batch *b)
{
	failed_at(SIZE_MAX, b->failed);
	if (!is_well_formed(b))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_each(&(struct singles){copy_one, b, b->count, b->failed, b->stream, is_ephemeral(b)});
}

/* true: *r is what the program gets, else the driver is to be asked. */
static bool served(const struct batch *b, const char *entry_point, CUresult *r)
{
	bool is_refused = refused(b, entry_point);

	if (!is_refused && !goes_singly(b))
		return false;
	*r = is_refused ? CUDA_ERROR_INVALID_VALUE : copy_singly(b);
	return true;
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

static bool has_mapped_3d(const CUDA_MEMCPY3D_BATCH_OP *op)
{
	return (!is_array(&op->src) && gmod_is_mapped_buffer(op->src.op.ptr.ptr)) ||
	       (!is_array(&op->dst) && gmod_is_mapped_buffer(op->dst.op.ptr.ptr));
}

static bool goes_singly_3d(const struct batch_3d *b)
{
	bool mapped = false;

	if (gmod_phase() == GMOD_OFF || !b->op)
		return false;
	for (size_t i = 0; !mapped && i < b->count; i++)
		mapped = has_mapped_3d(&b->op[i]);
	return mapped && is_green(b->stream);
}

/* The first with a mapped buffer that cannot go by itself; SIZE_MAX: there is none. */
static size_t find_bad(const struct batch_3d *b)
{
	CUDA_MEMCPY3D copy;

	for (size_t i = 0; i < b->count; i++)
		if (has_mapped_3d(&b->op[i]) && !single_of(&b->op[i], &copy))
			return i;
	return SIZE_MAX;
}

static CUresult copy_batch_of_one(CUDA_MEMCPY3D_BATCH_OP op, CUstream stream)
{
	size_t failed;

	if (HAVE(cuMemcpy3DBatchAsync_v2))
		return NEXT(cuMemcpy3DBatchAsync_v2)(1, &op, 0, stream);
	return NEXT(cuMemcpy3DBatchAsync)(1, &op, &failed, 0, stream);
}

/* Rows have a limit, copies of bytes do not. */
static CUresult copy_one_3d(const void *batch, size_t i)
{
	const struct batch_3d *b = batch;
	const CUDA_MEMCPY3D_BATCH_OP *op = &b->op[i];
	CUDA_MEMCPY3D copy;

	if (!has_mapped_3d(op))
		return copy_batch_of_one(*op, b->stream);
	if (!single_of(op, &copy))
		return CUDA_ERROR_INVALID_VALUE;
	if (copy.Height == 1 && copy.Depth == 1 && !is_array(&op->src) && !is_array(&op->dst))
		return NEXT(cuMemcpyAsync)(copy.dstDevice, copy.srcDevice, copy.WidthInBytes, b->stream);
	return NEXT(cuMemcpy3DAsync_v2)(&copy, b->stream);
}

static bool is_ephemeral_3d(const struct batch_3d *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->op[i].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
			return true;
	return false;
}

static CUresult copy_singly_3d(const struct batch_3d *b)
{
	size_t bad = find_bad(b);

	failed_at(bad, b->failed);
	if (b->flags || bad < b->count)
		return CUDA_ERROR_INVALID_VALUE;
	return copy_each(&(struct singles){copy_one_3d, b, b->count, b->failed, b->stream, is_ephemeral_3d(b)});
}

static bool served_3d(const struct batch_3d *b, const char *entry_point, CUresult *r)
{
	bool is_refused = refused_3d(b, entry_point);

	if (!is_refused && !goes_singly_3d(b))
		return false;
	*r = is_refused ? CUDA_ERROR_INVALID_VALUE : copy_singly_3d(b);
	return true;
}

static CUresult batch_end(CUresult r, const char *entry_point)
{
	return gmod_copy_end(&(struct gmod_copy){.stream = GMOD_ASYNC, .entry_point = entry_point}, r);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					size_t *failIdx, CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream};
	CUresult r;

	if (!served(&b, __func__, &r))
		r = NEXT(cuMemcpyBatchAsync)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					     CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					     size_t *failIdx, CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream};
	CUresult r;

	if (!served(&b, __func__, &r))
		r = NEXT(cuMemcpyBatchAsync_ptsz)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx,
						  hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
					   CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
					   CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, NULL, hStream};
	CUresult r;

	if (!served(&b, __func__, &r))
		r = NEXT(cuMemcpyBatchAsync_v2)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
						CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs,
						CUstream hStream)
{
	struct batch b = {dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, NULL, hStream};
	CUresult r;

	if (!served(&b, __func__, &r))
		r = NEXT(cuMemcpyBatchAsync_v2_ptsz)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx,
					  unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, flags, failIdx, hStream};
	CUresult r;

	if (!served_3d(&b, __func__, &r))
		r = NEXT(cuMemcpy3DBatchAsync)(numParams, opList, failIdx, flags, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_ptsz(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx,
					       unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, flags, failIdx, hStream};
	CUresult r;

	if (!served_3d(&b, __func__, &r))
		r = NEXT(cuMemcpy3DBatchAsync_ptsz)(numParams, opList, failIdx, flags, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList,
					     unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, flags, NULL, hStream};
	CUresult r;

	if (!served_3d(&b, __func__, &r))
		r = NEXT(cuMemcpy3DBatchAsync_v2)(numParams, opList, flags, hStream);
	return batch_end(r, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList,
						  unsigned long long flags, CUstream hStream)
{
	struct batch_3d b = {opList, numParams, flags, NULL, hStream};
	CUresult r;

	if (!served_3d(&b, __func__, &r))
		r = NEXT(cuMemcpy3DBatchAsync_v2_ptsz)(numParams, opList, flags, hStream);
	return batch_end(r, __func__);
}
