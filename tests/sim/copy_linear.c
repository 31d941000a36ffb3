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

ENTRY_TWINS(cuMemcpy, _ptds, NEEDS_CONTEXT, TAKES(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount),
	    copy_linear(waiting(&c), any(dst), any(src), ByteCount))
ENTRY_TWINS(cuMemcpyAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
	    copy_linear(queued(&c, hStream), any(dst), any(src), ByteCount))
ENTRY_TWINS(cuMemcpyHtoD_v2, _ptds, NEEDS_CONTEXT, TAKES(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
	    copy_linear(waiting(&c), device(dstDevice), host(srcHost), ByteCount))
ENTRY_TWINS(cuMemcpyHtoDAsync_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
	    copy_linear(queued(&c, hStream), device(dstDevice), host(srcHost), ByteCount))
ENTRY_TWINS(cuMemcpyDtoH_v2, _ptds, NEEDS_CONTEXT, TAKES(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
	    copy_linear(waiting(&c), host(dstHost), device(srcDevice), ByteCount))
ENTRY_TWINS(cuMemcpyDtoHAsync_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
	    copy_linear(queued(&c, hStream), host(dstHost), device(srcDevice), ByteCount))
ENTRY_TWINS(cuMemcpyDtoD_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
	    copy_linear(waiting(&c), device(dstDevice), device(srcDevice), ByteCount))
ENTRY_TWINS(cuMemcpyDtoDAsync_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
	    copy_linear(queued(&c, hStream), device(dstDevice), device(srcDevice), ByteCount))

/* Between contexts: the same bytes in one address space; the contexts must only be there. */
static CUresult peer(struct target to, CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
		     size_t bytes)
{
	if (!dst_ctx || !context_ok(dst_ctx) || !src_ctx || !context_ok(src_ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_linear(to, any(dst), any(src), bytes);
}

ENTRY_TWINS(cuMemcpyPeer, _ptds, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
		  size_t ByteCount),
	    peer(waiting(&c), dstDevice, dstContext, srcDevice, srcContext, ByteCount))
