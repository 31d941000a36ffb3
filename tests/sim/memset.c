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
static CUresult fill(const struct target *to, struct fill f)
{
	struct block *block = block_find(f.dst);
	struct work work;
	CUresult r = set_work(f.dst, f.pitch, f.element, f.value, f.width, f.height, &work);

	if (!r && to->synchronous)
		r = stream_check_default(to->ctx, to->per_thread);
	if (r || (to->synchronous && work.kind == WORK_NONE))
		return r;
	if (to->synchronous && block && (block_is_host(block) || block->kind == BLOCK_MANAGED))
		return stream_do_and_wait(to->ctx, NULL, to->per_thread, &work);
	return stream_do(to->ctx, to->stream, to->per_thread, &work);
}

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
	struct call c = ENTER(cuMemsetD8_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 1, uc, N, 1}));
}

CUresult cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
	struct call c = ENTER(cuMemsetD8_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 1, uc, N, 1}));
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	struct call c = ENTER(cuMemsetD8Async, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 1, uc, N, 1}));
}

CUresult cuMemsetD8Async_ptsz(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	struct call c = ENTER(cuMemsetD8Async_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 1, uc, N, 1}));
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
	struct call c = ENTER(cuMemsetD2D8_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 1, uc, Width, Height}));
}

CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
	struct call c = ENTER(cuMemsetD2D8_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 1, uc, Width, Height}));
}

CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
			   CUstream hStream)
{
	struct call c = ENTER(cuMemsetD2D8Async, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 1, uc, Width, Height}));
}

CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
				CUstream hStream)
{
	struct call c = ENTER(cuMemsetD2D8Async_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 1, uc, Width, Height}));
}

CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
	struct call c = ENTER(cuMemsetD16_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 2, us, N, 1}));
}

CUresult cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
	struct call c = ENTER(cuMemsetD16_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 2, us, N, 1}));
}

CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
	struct call c = ENTER(cuMemsetD16Async, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 2, us, N, 1}));
}

CUresult cuMemsetD16Async_ptsz(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
	struct call c = ENTER(cuMemsetD16Async_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 2, us, N, 1}));
}

CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
	struct call c = ENTER(cuMemsetD2D16_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 2, us, Width, Height}));
}

CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
	struct call c = ENTER(cuMemsetD2D16_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 2, us, Width, Height}));
}

CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
			    CUstream hStream)
{
	struct call c = ENTER(cuMemsetD2D16Async, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 2, us, Width, Height}));
}

CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
				 CUstream hStream)
{
	struct call c = ENTER(cuMemsetD2D16Async_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 2, us, Width, Height}));
}

CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
	struct call c = ENTER(cuMemsetD32_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 4, ui, N, 1}));
}

CUresult cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
	struct call c = ENTER(cuMemsetD32_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 4, ui, N, 1}));
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
	struct call c = ENTER(cuMemsetD32Async, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 4, ui, N, 1}));
}

CUresult cuMemsetD32Async_ptsz(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
	struct call c = ENTER(cuMemsetD32Async_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, 0, 4, ui, N, 1}));
}

CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
	struct call c = ENTER(cuMemsetD2D32_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 4, ui, Width, Height}));
}

CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
	struct call c = ENTER(cuMemsetD2D32_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 4, ui, Width, Height}));
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
			    CUstream hStream)
{
	struct call c = ENTER(cuMemsetD2D32Async, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 4, ui, Width, Height}));
}

CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
				 CUstream hStream)
{
	struct call c = ENTER(cuMemsetD2D32Async_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: fill(&to, (struct fill){dstDevice, dstPitch, 4, ui, Width, Height}));
}
