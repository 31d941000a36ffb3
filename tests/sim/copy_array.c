/* Copies to and from arrays, one row or less. */
#include "sim.h"

/* One side in an array: the bytes from offset on must lie in its first row. */
static CUresult with_array(const struct target *to, CUarray array, size_t offset, struct operand other, size_t bytes,
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

static CUresult into(const struct target *to, CUarray array, size_t offset, CUmemorytype type, uintptr_t from,
		     size_t bytes)
{
	return with_array(to, array, offset, (struct operand){.type = type, .at = from}, bytes, true);
}

static CUresult out_of(const struct target *to, CUmemorytype type, uintptr_t dst, CUarray array, size_t offset,
		       size_t bytes)
{
	return with_array(to, array, offset, (struct operand){.type = type, .at = dst}, bytes, false);
}

static CUresult between(const struct target *to, CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
			size_t bytes)
{
	struct operand from;
	CUresult r = array_operand(src, src_offset, 0, 0, &from);

	if (!r && bytes > src->row - src_offset)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ?: with_array(to, dst, dst_offset, from, bytes, true);
}

CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyDtoA_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: into(&to, dstArray, dstOffset, CU_MEMORYTYPE_DEVICE, srcDevice, ByteCount));
}

CUresult cuMemcpyDtoA_v2_ptds(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyDtoA_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: into(&to, dstArray, dstOffset, CU_MEMORYTYPE_DEVICE, srcDevice, ByteCount));
}

CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyHtoA_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused
				 ?: into(&to, dstArray, dstOffset, CU_MEMORYTYPE_HOST, (uintptr_t)srcHost, ByteCount));
}

CUresult cuMemcpyHtoA_v2_ptds(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyHtoA_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused
				 ?: into(&to, dstArray, dstOffset, CU_MEMORYTYPE_HOST, (uintptr_t)srcHost, ByteCount));
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyAtoD_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: out_of(&to, CU_MEMORYTYPE_DEVICE, dstDevice, srcArray, srcOffset, ByteCount));
}

CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyAtoD_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: out_of(&to, CU_MEMORYTYPE_DEVICE, dstDevice, srcArray, srcOffset, ByteCount));
}

CUresult cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyAtoH_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(
	    &c, c.refused ?: out_of(&to, CU_MEMORYTYPE_HOST, (uintptr_t)dstHost, srcArray, srcOffset, ByteCount));
}

CUresult cuMemcpyAtoH_v2_ptds(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyAtoH_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(
	    &c, c.refused ?: out_of(&to, CU_MEMORYTYPE_HOST, (uintptr_t)dstHost, srcArray, srcOffset, ByteCount));
}

CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyAtoA_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, false, true};

	return sim_leave(&c, c.refused ?: between(&to, dstArray, dstOffset, srcArray, srcOffset, ByteCount));
}

CUresult cuMemcpyAtoA_v2_ptds(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct call c = ENTER(cuMemcpyAtoA_v2_ptds, NEEDS_CONTEXT);
	struct target to = {c.ctx, NULL, true, true};

	return sim_leave(&c, c.refused ?: between(&to, dstArray, dstOffset, srcArray, srcOffset, ByteCount));
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
			      CUstream hStream)
{
	struct call c = ENTER(cuMemcpyHtoAAsync_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(&c, c.refused
				 ?: into(&to, dstArray, dstOffset, CU_MEMORYTYPE_HOST, (uintptr_t)srcHost, ByteCount));
}

CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
				   CUstream hStream)
{
	struct call c = ENTER(cuMemcpyHtoAAsync_v2_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(&c, c.refused
				 ?: into(&to, dstArray, dstOffset, CU_MEMORYTYPE_HOST, (uintptr_t)srcHost, ByteCount));
}

CUresult cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
{
	struct call c = ENTER(cuMemcpyAtoHAsync_v2, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, false, false};

	return sim_leave(
	    &c, c.refused ?: out_of(&to, CU_MEMORYTYPE_HOST, (uintptr_t)dstHost, srcArray, srcOffset, ByteCount));
}

CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
				   CUstream hStream)
{
	struct call c = ENTER(cuMemcpyAtoHAsync_v2_ptsz, NEEDS_CONTEXT);
	struct target to = {c.ctx, hStream, true, false};

	return sim_leave(
	    &c, c.refused ?: out_of(&to, CU_MEMORYTYPE_HOST, (uintptr_t)dstHost, srcArray, srcOffset, ByteCount));
}
