/* Copies: checking both sides, and the rules about waiting that all of them share. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

/* A call that waits does so on the default stream. */
struct target waiting(const struct call *call)
{
	return (struct target){.ctx = call->ctx, .per_thread = call->per_thread, .synchronous = true};
}

struct target queued(const struct call *call, CUstream stream)
{
	return (struct target){.ctx = call->ctx, .stream = stream, .per_thread = call->per_thread};
}

/* Bytes from the first to the last that a box touches. */
static bool extent(const struct operand *o, size_t width, size_t height, size_t depth, size_t *out)
{
	size_t rows, planes;

	if (__builtin_mul_overflow(height - 1, o->pitch, &rows) ||
	    __builtin_mul_overflow(depth - 1, o->slice, &planes) || __builtin_add_overflow(rows, planes, out) ||
	    __builtin_add_overflow(*out, width, out))
		return false;
	return o->at + *out >= o->at;
}

/* What the driver does not know is pageable memory, unless the caller said it was the device's. */
static CUresult check_side(struct operand *o, size_t width, size_t height, size_t depth)
{
	struct block *block = block_find(o->at);
	size_t bytes;
	bool known;

	if ((height > 1 && o->pitch < width) || !extent(o, width, height, depth, &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	o->pageable = !block;
	o->host = !block || block_is_host(block);
	o->waited_for = block && block->sync_memops;
	if (!block && (!o->at || o->type == CU_MEMORYTYPE_DEVICE))
		return CUDA_ERROR_INVALID_VALUE;
	if (block && block->freeing)
		return CUDA_ERROR_INVALID_VALUE;
	return block_range_ok(o->at, bytes, &known) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Nothing to copy is right whatever the addresses are. */
CUresult copy_check(struct operand *dst, struct operand *src, size_t width, size_t height, size_t depth,
		    struct work *out)
{
	CUresult r;

	*out = (struct work){.kind = WORK_NONE};
	if (!width || !height || !depth)
		return CUDA_SUCCESS;
	out->kind = WORK_COPY;
	out->copy = (struct work_copy){
	    .dst = dst->at,
	    .src = src->at,
	    .dst_pitch = dst->pitch,
	    .src_pitch = src->pitch,
	    .dst_slice = dst->slice,
	    .src_slice = src->slice,
	    .width = width,
	    .height = height,
	    .depth = depth,
	};
	r = check_side(dst, width, height, depth) ?: check_side(src, width, height, depth);
	out->copy.sent = src->host && !dst->host;
	return r;
}

/* The bytes of pageable memory are taken at the call: the caller may change them when it returns. */
static CUresult stage(struct work_copy *c)
{
	unsigned char *to = malloc(c->width * c->height * c->depth);

	if (!to)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->staged = to;
	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++, to += c->width)
			memcpy(to, (void *)(c->src + z * c->src_slice + y * c->src_pitch), c->width);
	c->src = (uintptr_t)c->staged;
	c->src_pitch = c->width;
	c->src_slice = c->width * c->height;
	return CUDA_SUCCESS;
}

/* Into pageable memory the call returns when the bytes are there. */
static CUresult submit_async(struct target to, const struct operand *dst, const struct operand *src, struct work *work)
{
	CUstream stream = stream_of(to.ctx, to.stream, to.per_thread);
	bool captured = stream && stream->capture, copies = work->kind == WORK_COPY;
	CUresult r = CUDA_SUCCESS;

	if (copies && src->pageable && !captured)
		r = stage(&work->copy);
	if (r)
		return r;
	if (copies && dst->pageable && !captured)
		return stream_do_and_wait(to.ctx, to.stream, to.per_thread, work);
	return stream_do(to.ctx, to.stream, to.per_thread, work);
}

/* From device to device nobody waits, but where the memory wants it. */
static CUresult submit_sync(struct target to, const struct operand *dst, const struct operand *src, struct work *work)
{
	CUresult r = stream_check_default(to.ctx, to.per_thread);

	if (r || work->kind == WORK_NONE)
		return r;
	if (dst->host || src->host || dst->waited_for || src->waited_for)
		return stream_do_and_wait(to.ctx, NULL, to.per_thread, work);
	return stream_do(to.ctx, NULL, to.per_thread, work);
}

CUresult copy_submit(struct target to, struct operand *dst, struct operand *src, size_t width, size_t height,
		     size_t depth)
{
	struct work work;
	CUresult r = copy_check(dst, src, width, height, depth, &work);

	if (r)
		return r;
	return to.synchronous ? submit_sync(to, dst, src, &work) : submit_async(to, dst, src, &work);
}

CUresult copy_linear(struct target to, struct operand dst, struct operand src, size_t bytes)
{
	return copy_submit(to, &dst, &src, bytes, 1, 1);
}
