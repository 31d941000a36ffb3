/* Copies of consecutive bytes: by unified address, host and device, peers. */
#include "sim.h"

static struct operand host(const void *p)
{
	return (struct operand){.type = CU_MEMORYTYPE_HOST, .at = (uintptr_t)p};
}

static struct operand device(CUdeviceptr p)
{
	return (struct operand){.type = CU_MEMORYTYPE_DEVICE, .at = p};
}

static struct operand any(CUdeviceptr p)
{
	return (struct operand){.type = CU_MEMORYTYPE_UNIFIED, .at = p};
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpy, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: copy_linear(&to, any(dst), any(src), ByteCount));
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpy_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: copy_linear(&to, any(dst), any(src), ByteCount));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyAsync, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: copy_linear(&to, any(dst), any(src), ByteCount));
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyAsync_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: copy_linear(&to, any(dst), any(src), ByteCount));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyHtoD_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: copy_linear(&to, device(dstDevice), host(srcHost), ByteCount));
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyHtoD_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: copy_linear(&to, device(dstDevice), host(srcHost), ByteCount));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyHtoDAsync_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: copy_linear(&to, device(dstDevice), host(srcHost), ByteCount));
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyHtoDAsync_v2_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: copy_linear(&to, device(dstDevice), host(srcHost), ByteCount));
}

CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyDtoH_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: copy_linear(&to, host(dstHost), device(srcDevice), ByteCount));
}

CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyDtoH_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: copy_linear(&to, host(dstHost), device(srcDevice), ByteCount));
}

CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyDtoHAsync_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: copy_linear(&to, host(dstHost), device(srcDevice), ByteCount));
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyDtoHAsync_v2_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: copy_linear(&to, host(dstHost), device(srcDevice), ByteCount));
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyDtoD_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: copy_linear(&to, device(dstDevice), device(srcDevice), ByteCount));
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyDtoD_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: copy_linear(&to, device(dstDevice), device(srcDevice), ByteCount));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyDtoDAsync_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: copy_linear(&to, device(dstDevice), device(srcDevice), ByteCount));
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyDtoDAsync_v2_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: copy_linear(&to, device(dstDevice), device(srcDevice), ByteCount));
}

/* Between contexts: the same bytes in one address space; the contexts must only be there. */
static CUresult peer(const struct target *to, CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
		     size_t bytes)
{
	if (!dst_ctx || !context_ok(dst_ctx) || !src_ctx || !context_ok(src_ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_linear(to, any(dst), any(src), bytes);
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
		      size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyPeer, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: peer(&to, dstDevice, dstContext, srcDevice, srcContext, ByteCount));
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
			   size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyPeer_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: peer(&to, dstDevice, dstContext, srcDevice, srcContext, ByteCount));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
			   size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyPeerAsync, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused ?: peer(&to, dstDevice, dstContext, srcDevice, srcContext, ByteCount));
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
				CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyPeerAsync_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused ?: peer(&to, dstDevice, dstContext, srcDevice, srcContext, ByteCount));
}
