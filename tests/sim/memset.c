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

/* The synchronous ones wait only where the host could look at once: pinned and managed memory. */
static CUresult fill(struct target to, struct fill f)
{
	struct block *block = block_find(f.dst);
	struct work work;
	CUresult r = set_work(f.dst, f.pitch, f.element, f.value, f.width, f.height, &work);

	if (!r && to.synchronous)
		r = stream_check_default(to.ctx, to.per_thread);
	if (r || (to.synchronous && work.kind == WORK_NONE))
		return r;
	if (to.synchronous && block && (block_is_host(block) || block->kind == BLOCK_MANAGED))
		return stream_do_and_wait(to.ctx, NULL, to.per_thread, &work);
	return stream_do(to.ctx, to.stream, to.per_thread, &work);
}

ENTRY_TWINS(cuMemsetD8_v2, _ptds, NEEDS_CONTEXT, TAKES(CUdeviceptr dstDevice, unsigned char uc, size_t N),
	    fill(waiting(&c), (struct fill){dstDevice, 0, 1, uc, N, 1}))
ENTRY_TWINS(cuMemsetD8Async, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream),
	    fill(queued(&c, hStream), (struct fill){dstDevice, 0, 1, uc, N, 1}))
ENTRY_TWINS(cuMemsetD2D8_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height),
	    fill(waiting(&c), (struct fill){dstDevice, dstPitch, 1, uc, Width, Height}))
ENTRY_TWINS(cuMemsetD2D8Async, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
		  CUstream hStream),
	    fill(queued(&c, hStream), (struct fill){dstDevice, dstPitch, 1, uc, Width, Height}))
ENTRY_TWINS(cuMemsetD16_v2, _ptds, NEEDS_CONTEXT, TAKES(CUdeviceptr dstDevice, unsigned short us, size_t N),
	    fill(waiting(&c), (struct fill){dstDevice, 0, 2, us, N, 1}))
ENTRY_TWINS(cuMemsetD16Async, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream),
	    fill(queued(&c, hStream), (struct fill){dstDevice, 0, 2, us, N, 1}))
ENTRY_TWINS(cuMemsetD2D16_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height),
	    fill(waiting(&c), (struct fill){dstDevice, dstPitch, 2, us, Width, Height}))
ENTRY_TWINS(cuMemsetD2D16Async, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
		  CUstream hStream),
	    fill(queued(&c, hStream), (struct fill){dstDevice, dstPitch, 2, us, Width, Height}))
ENTRY_TWINS(cuMemsetD32_v2, _ptds, NEEDS_CONTEXT, TAKES(CUdeviceptr dstDevice, unsigned int ui, size_t N),
	    fill(waiting(&c), (struct fill){dstDevice, 0, 4, ui, N, 1}))
ENTRY_TWINS(cuMemsetD32Async, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream),
	    fill(queued(&c, hStream), (struct fill){dstDevice, 0, 4, ui, N, 1}))
ENTRY_TWINS(cuMemsetD2D32_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height),
	    fill(waiting(&c), (struct fill){dstDevice, dstPitch, 4, ui, Width, Height}))
ENTRY_TWINS(cuMemsetD2D32Async, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
		  CUstream hStream),
	    fill(queued(&c, hStream), (struct fill){dstDevice, dstPitch, 4, ui, Width, Height}))
