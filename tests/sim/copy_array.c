/* Copies to and from arrays, one row or less. */
#include "sim.h"

/* One side in an array: the bytes from offset on must lie in its first row. */
static CUresult with_array(struct target to, CUarray array, size_t offset, struct operand other, size_t bytes,
			   bool array_is_dst)
{
	struct operand in;
	CUresult r = array_operand(array, offset, 0, 0, &in);

	if (r)
		return r;
	if (bytes > array->row - offset)
		return CUDA_ERROR_INVALID_VALUE;
	return array_is_dst ? copy_linear(to, in, other, bytes) : copy_linear(to, other, in, bytes);
}

static CUresult into(struct target to, CUarray array, size_t offset, CUmemorytype type, uintptr_t from, size_t bytes)
{
	return with_array(to, array, offset, (struct operand){.type = type, .at = from}, bytes, true);
}

static CUresult out_of(struct target to, CUmemorytype type, uintptr_t dst, CUarray array, size_t offset, size_t bytes)
{
	return with_array(to, array, offset, (struct operand){.type = type, .at = dst}, bytes, false);
}

static CUresult between(struct target to, CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes)
{
	struct operand from;
	CUresult r = array_operand(src, src_offset, 0, 0, &from);

	if (!r && bytes > src->row - src_offset)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: with_array(to, dst, dst_offset, from, bytes, true);
}

ENTRY_TWINS(cuMemcpyDtoA_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),
	    into(waiting(&c), dstArray, dstOffset, CU_MEMORYTYPE_DEVICE, srcDevice, ByteCount))
ENTRY_TWINS(cuMemcpyHtoA_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
	    into(waiting(&c), dstArray, dstOffset, CU_MEMORYTYPE_HOST, (uintptr_t)srcHost, ByteCount))
ENTRY_TWINS(cuMemcpyAtoD_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),
	    out_of(waiting(&c), CU_MEMORYTYPE_DEVICE, dstDevice, srcArray, srcOffset, ByteCount))
ENTRY_TWINS(cuMemcpyAtoH_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),
	    out_of(waiting(&c), CU_MEMORYTYPE_HOST, (uintptr_t)dstHost, srcArray, srcOffset, ByteCount))
ENTRY_TWINS(cuMemcpyAtoA_v2, _ptds, NEEDS_CONTEXT,
	    TAKES(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount),
	    between(waiting(&c), dstArray, dstOffset, srcArray, srcOffset, ByteCount))
ENTRY_TWINS(cuMemcpyHtoAAsync_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream),
	    into(queued(&c, hStream), dstArray, dstOffset, CU_MEMORYTYPE_HOST, (uintptr_t)srcHost, ByteCount))
ENTRY_TWINS(cuMemcpyAtoHAsync_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream),
	    out_of(queued(&c, hStream), CU_MEMORYTYPE_HOST, (uintptr_t)dstHost, srcArray, srcOffset, ByteCount))
