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

/* One that waits, and one that is queued. */
#define COPIES(name, abi, to_type, to, from_type, from) \
	ENTRY_TWINS(name##abi, _ptds, NEEDS_CONTEXT, TAKES(to_type dst, from_type src, size_t bytes), \
		    copy_linear(waiting(&c), to(dst), from(src), bytes)) \
	ENTRY_TWINS(name##Async##abi, _ptsz, NEEDS_CONTEXT, \
		    TAKES(to_type dst, from_type src, size_t bytes, CUstream stream), \
		    copy_linear(queued(&c, stream), to(dst), from(src), bytes))

COPIES(cuMemcpy, , CUdeviceptr, any, CUdeviceptr, any)
COPIES(cuMemcpyHtoD, _v2, CUdeviceptr, device, const void *, host)
COPIES(cuMemcpyDtoH, _v2, void *, host, CUdeviceptr, device)
COPIES(cuMemcpyDtoD, _v2, CUdeviceptr, device, CUdeviceptr, device)

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
