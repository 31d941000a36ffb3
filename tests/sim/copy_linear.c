/* Copies of consecutive bytes: by unified address, host and device, peers, and arrays of one dimension. */
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
ENTRY_TWINS(cuMemcpyPeerAsync, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
		  size_t ByteCount, CUstream hStream),
	    peer(queued(&c, hStream), dstDevice, dstContext, srcDevice, srcContext, ByteCount))

/* Arrays: offsets are bytes. What is no array has an address that nothing lies at. */
struct place {
	CUarray array; /* NULL: of the other side */
	size_t offset;
};

static CUresult resolve(struct place at, struct operand *o)
{
	return at.array ? array_operand(at.array, at.offset, 0, 0, o) : CUDA_SUCCESS;
}

static CUresult arrays(struct target to, struct place dst, struct operand d, struct place src, struct operand s,
		       size_t bytes)
{
	CUresult r = resolve(dst, &d) ?: resolve(src, &s);

	return r ?: copy_linear(to, d, s, bytes);
}

#define NO_ARRAY ((struct place){NULL, 0})
#define NO_MEMORY ((struct operand){.at = 0})

#define TO_ARRAY(symbol, suffix, from_type, from, target, ...) \
	ENTRY_TWINS(symbol, suffix, NEEDS_CONTEXT, \
		    TAKES(CUarray dst, size_t offset, from_type src, size_t bytes, ##__VA_ARGS__), \
		    refuse_if(!dst, CUDA_ERROR_INVALID_HANDLE) \
			?: arrays(target, (struct place){dst, offset}, NO_MEMORY, NO_ARRAY, from(src), bytes))
#define FROM_ARRAY(symbol, suffix, to_type, to, target, ...) \
	ENTRY_TWINS(symbol, suffix, NEEDS_CONTEXT, \
		    TAKES(to_type dst, CUarray src, size_t offset, size_t bytes, ##__VA_ARGS__), \
		    refuse_if(!src, CUDA_ERROR_INVALID_HANDLE) \
			?: arrays(target, NO_ARRAY, to(dst), (struct place){src, offset}, NO_MEMORY, bytes))

TO_ARRAY(cuMemcpyDtoA_v2, _ptds, CUdeviceptr, device, waiting(&c))
TO_ARRAY(cuMemcpyHtoA_v2, _ptds, const void *, host, waiting(&c))
TO_ARRAY(cuMemcpyHtoAAsync_v2, _ptsz, const void *, host, queued(&c, stream), CUstream stream)
FROM_ARRAY(cuMemcpyAtoD_v2, _ptds, CUdeviceptr, device, waiting(&c))
FROM_ARRAY(cuMemcpyAtoH_v2, _ptds, void *, host, waiting(&c))
FROM_ARRAY(cuMemcpyAtoHAsync_v2, _ptsz, void *, host, queued(&c, stream), CUstream stream)
ENTRY_TWINS(cuMemcpyAtoA_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUarray dst, size_t to, CUarray src, size_t from, size_t bytes),
	    refuse_if(!dst || !src, CUDA_ERROR_INVALID_HANDLE)
		?: arrays(waiting(&c), (struct place){dst, to}, NO_MEMORY, (struct place){src, from}, NO_MEMORY, bytes))
