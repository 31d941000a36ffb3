/* Batches of copies: one after another on the stream, up to the first that is wrong. */
#include "sim.h"

#include <signal.h>

/* The stream of a batch must be a real one. A captured one refuses it, and the capture goes on. */
static CUresult check_stream(struct target to)
{
	CUstream stream = stream_of(to.ctx, to.stream, to.per_thread);

	if (to.stream == CU_STREAM_LEGACY || (!to.stream && !to.per_thread))
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	return stream->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

/* Measured on driver 580: in a green context's stream, a batch with memory that is no context's ends in a fault. */
static void fault_in_green(struct target to, uintptr_t dst, uintptr_t src)
{
	CUstream stream = stream_of(to.ctx, to.stream, to.per_thread);

	while (stream && stream->ctx->green && (block_is_of_no_context(dst) || block_is_of_no_context(src)))
		raise(SIGSEGV); /* once more when a handler returns, like an access */
}

/* Sources that may be gone when the call returns have been read by then. */
static CUresult read_by_now(struct target to, bool ephemeral)
{
	CUstream stream = stream_of(to.ctx, to.stream, to.per_thread);

	return ephemeral ? queue_wait_stream(stream) : CUDA_SUCCESS;
}

struct batch {
	const CUdeviceptr *dst, *src;
	const size_t *bytes;
	size_t count;
	const CUmemcpyAttributes *attributes;
	const size_t *first_of_attribute;
	size_t attribute_count;
	size_t *failed;
};

static CUresult check_batch(const struct batch *b)
{
	if (!b->dst || !b->src || !b->bytes || !b->count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!b->attributes || !b->first_of_attribute || !b->attribute_count || b->attribute_count > b->count)
		return CUDA_ERROR_INVALID_VALUE;
	return b->first_of_attribute[0] ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult run(struct target to, const struct batch *b)
{
	CUresult r = check_stream(to) ?: check_batch(b);
	bool ephemeral = false;

	if (b->failed)
		*b->failed = SIZE_MAX;
	for (size_t i = 0; !r && i < b->count; i++) {
		struct operand dst = {.type = CU_MEMORYTYPE_UNIFIED, .at = b->dst[i]};
		struct operand src = {.type = CU_MEMORYTYPE_UNIFIED, .at = b->src[i]};

		fault_in_green(to, dst.at, src.at);
		r = copy_linear(to, dst, src, b->bytes[i]);
		if (r && b->failed)
			*b->failed = i;
	}
	for (size_t i = 0; !r && i < b->attribute_count; i++)
		ephemeral |= b->attributes[i].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
	return r ?: read_by_now(to, ephemeral);
}

ENTRY_TWINS(cuMemcpyBatchAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
		  size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream),
	    run(queued(&c, hStream), &(struct batch){dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx}))
ENTRY_TWINS(cuMemcpyBatchAsync_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
		  size_t *attrsIdxs, size_t numAttrs, CUstream hStream),
	    run(queued(&c, hStream), &(struct batch){dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL}))

/* Extents are in elements, of one byte where no array is involved. */
static unsigned element_of(const CUDA_MEMCPY3D_BATCH_OP *op)
{
	if (op->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY && array_ok(op->src.op.array.array))
		return op->src.op.array.array->element;
	if (op->dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY && array_ok(op->dst.op.array.array))
		return op->dst.op.array.array->element;
	return 1;
}

static CUresult operand_of(const CUmemcpy3DOperand *o, const CUextent3D *extent, unsigned element, struct operand *out)
{
	size_t row, rows;

	if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
		return array_operand(o->op.array.array, o->op.array.offset.x * element, o->op.array.offset.y,
				     o->op.array.offset.z, out);
	if (o->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
		return CUDA_ERROR_INVALID_VALUE;
	row = (o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width) * element;
	rows = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
	*out = (struct operand){.type = CU_MEMORYTYPE_UNIFIED, .at = o->op.ptr.ptr, .pitch = row, .slice = row * rows};
	return CUDA_SUCCESS;
}

static CUresult run_3d_op(struct target to, const CUDA_MEMCPY3D_BATCH_OP *op)
{
	unsigned element = element_of(op);
	struct operand dst, src;
	CUresult r;

	if (!op->extent.width || !op->extent.height || !op->extent.depth)
		return CUDA_ERROR_INVALID_VALUE;
	r = operand_of(&op->dst, &op->extent, element, &dst) ?: operand_of(&op->src, &op->extent, element, &src);
	if (r)
		return r;
	fault_in_green(to, dst.at, src.at);
	return copy_submit(to, &dst, &src, op->extent.width * element, op->extent.height, op->extent.depth);
}

static CUresult run_3d(struct target to, size_t count, const CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
		       size_t *failed)
{
	CUresult r = check_stream(to);
	bool ephemeral = false;

	if (failed)
		*failed = SIZE_MAX;
	if (!r && (!count || !ops || flags))
		r = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !r && i < count; i++) {
		ephemeral |= ops[i].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
		r = run_3d_op(to, &ops[i]);
		if (r && failed)
			*failed = i;
	}
	return r ?: read_by_now(to, ephemeral);
}

ENTRY_TWINS(cuMemcpy3DBatchAsync_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags, CUstream hStream),
	    run_3d(queued(&c, hStream), numOps, opList, flags, NULL))
ENTRY_TWINS(cuMemcpy3DBatchAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx, unsigned long long flags,
		  CUstream hStream),
	    run_3d(queued(&c, hStream), numOps, opList, flags, failIdx))

/* One alone. */
ENTRY_TWINS(cuMemcpyWithAttributesAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr, CUstream hStream),
	    run(queued(&c, hStream), &(struct batch){&dst, &src, &size, 1, attr, &(size_t){0}, 1, NULL}))
ENTRY_TWINS(cuMemcpy3DWithAttributesAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream hStream),
	    run_3d(queued(&c, hStream), 1, op, flags, NULL))
