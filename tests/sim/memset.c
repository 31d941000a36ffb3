/* Fills. */
#include "sim.h"

CUresult set_work(CUdeviceptr dst, size_t pitch, unsigned element, unsigned value, size_t width, size_t height,
		  struct work *out)
{
	size_t row, bytes;
	bool known;

	*out = (struct work){.kind = WORK_NONE};
	if (!width || !height)
		return CUDA_SUCCESS;
	if (__builtin_mul_overflow(width, (size_t)element, &row) || (height > 1 && pitch < row) || dst % element ||
	    __builtin_mul_overflow(height - 1, pitch, &bytes) || __builtin_add_overflow(bytes, row, &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	if (dst + bytes < dst || !block_range_ok(dst, bytes, &known) || !known)
		return CUDA_ERROR_INVALID_VALUE;
	out->kind = WORK_SET;
	out->set = (struct work_set){dst, pitch, width, height, element, value};
	return CUDA_SUCCESS;
}

struct fill {
	CUdeviceptr dst;
	size_t pitch;
	unsigned element, value;
	size_t width, height;
};

/* The synchronous ones wait only where the host could look at once, pinned memory, and where the memory wants it. */
static CUresult fill(struct target to, struct fill f)
{
	struct block *block = block_find(f.dst);
	struct work work;
	CUresult r = set_work(f.dst, f.pitch, f.element, f.value, f.width, f.height, &work);

	if (!r && to.synchronous)
		r = stream_check_default(to.ctx, to.per_thread);
	if (r || (to.synchronous && work.kind == WORK_NONE))
		return r;
	if (to.synchronous && block && (block_is_host(block) || block->sync_memops))
		return stream_do_and_wait(to.ctx, NULL, to.per_thread, &work);
	return stream_do(to.ctx, to.stream, to.per_thread, &work);
}

/* The four of a width: of consecutive elements and of rows, waiting and queued. */
#define FILLS(bits, type) \
	ENTRY_TWINS(cuMemsetD##bits##_v2, _ptds, NEEDS_CONTEXT, TAKES(CUdeviceptr dst, type value, size_t count), \
		    fill(waiting(&c), (struct fill){dst, 0, bits / 8, value, count, 1})) \
	ENTRY_TWINS(cuMemsetD##bits##Async, _ptsz, NEEDS_CONTEXT, \
		    TAKES(CUdeviceptr dst, type value, size_t count, CUstream stream), \
		    fill(queued(&c, stream), (struct fill){dst, 0, bits / 8, value, count, 1})) \
	ENTRY_TWINS(cuMemsetD2D##bits##_v2, _ptds, NEEDS_CONTEXT, \
		    TAKES(CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height), \
		    fill(waiting(&c), (struct fill){dst, pitch, bits / 8, value, width, height})) \
	ENTRY_TWINS(cuMemsetD2D##bits##Async, _ptsz, NEEDS_CONTEXT, \
		    TAKES(CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height, CUstream stream), \
		    fill(queued(&c, stream), (struct fill){dst, pitch, bits / 8, value, width, height}))

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)
