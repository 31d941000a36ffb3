/*
 * Words written and waited for in stream order. Past the end of a buffer lies memory of ours that the driver would take
 * them on: they are refused there, as natively.
 */
#include "lib/hooks/hook.h"
#include "lib/buffers/misuse.h"

static CUresult finish(CUresult r, CUstream stream, const char *entry_point)
{
	gmod_holds(r, stream, entry_point);
	return gmod_done(r, entry_point);
}

/* Writes and waits have the same types. */
static CUresult word_32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags,
			PFN_cuStreamWriteValue32_v8000 next, const char *entry_point)
{
	if (gmod_misuse_refuses(address, sizeof(value), entry_point))
		return GMOD_REFUSED;
	gmod_ordered_passed();
	return finish(next(stream, address, value, flags), stream, entry_point);
}

static CUresult word_64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags,
			PFN_cuStreamWriteValue64_v9000 next, const char *entry_point)
{
	if (gmod_misuse_refuses(address, sizeof(value), entry_point))
		return GMOD_REFUSED;
	gmod_ordered_passed();
	return finish(next(stream, address, value, flags), stream, entry_point);
}

/* Waits and writes have their address in the same place; the other operations have none. */
static uint64_t address_of(const CUstreamBatchMemOpParams *op)
{
	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return op->waitValue.address;
	default:
		return 0;
	}
}

static size_t width_of(const CUstreamBatchMemOpParams *op)
{
	return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64
		   ? sizeof(cuuint64_t)
		   : sizeof(cuuint32_t);
}

static CUresult batch(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *ops, unsigned int flags,
		      PFN_cuStreamBatchMemOp_v8000 next, const char *entry_point)
{
	for (unsigned i = 0; ops && i < count; i++)
		if (gmod_misuse_refuses(address_of(&ops[i]), width_of(&ops[i]), entry_point))
			return GMOD_REFUSED;
	gmod_ordered_passed();
	return finish(next(stream, count, ops, flags), stream, entry_point);
}

GMOD_EXPORT CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
	return word_32(stream, address, value, flags, NEXT(cuStreamWriteValue32), __func__);
}

GMOD_EXPORT CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
					       unsigned int flags)
{
	return word_32(stream, address, value, flags, NEXT(cuStreamWriteValue32_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
	return word_32(stream, address, value, flags, NEXT(cuStreamWriteValue32_v2), __func__);
}

GMOD_EXPORT CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
						  unsigned int flags)
{
	return word_32(stream, address, value, flags, NEXT(cuStreamWriteValue32_v2_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags)
{
	return word_64(stream, address, value, flags, NEXT(cuStreamWriteValue64), __func__);
}

GMOD_EXPORT CUresult cuStreamWriteValue64_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
					       unsigned int flags)
{
	return word_64(stream, address, value, flags, NEXT(cuStreamWriteValue64_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags)
{
	return word_64(stream, address, value, flags, NEXT(cuStreamWriteValue64_v2), __func__);
}

GMOD_EXPORT CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
						  unsigned int flags)
{
	return word_64(stream, address, value, flags, NEXT(cuStreamWriteValue64_v2_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
	return word_32(stream, address, value, flags, NEXT(cuStreamWaitValue32), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
					      unsigned int flags)
{
	return word_32(stream, address, value, flags, NEXT(cuStreamWaitValue32_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
	return word_32(stream, address, value, flags, NEXT(cuStreamWaitValue32_v2), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
						 unsigned int flags)
{
	return word_32(stream, address, value, flags, NEXT(cuStreamWaitValue32_v2_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags)
{
	return word_64(stream, address, value, flags, NEXT(cuStreamWaitValue64), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
					      unsigned int flags)
{
	return word_64(stream, address, value, flags, NEXT(cuStreamWaitValue64_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags)
{
	return word_64(stream, address, value, flags, NEXT(cuStreamWaitValue64_v2), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
						 unsigned int flags)
{
	return word_64(stream, address, value, flags, NEXT(cuStreamWaitValue64_v2_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *ops,
					unsigned int flags)
{
	return batch(stream, count, ops, flags, NEXT(cuStreamBatchMemOp), __func__);
}

GMOD_EXPORT CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *ops,
					     unsigned int flags)
{
	return batch(stream, count, ops, flags, NEXT(cuStreamBatchMemOp_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *ops,
					   unsigned int flags)
{
	return batch(stream, count, ops, flags, NEXT(cuStreamBatchMemOp_v2), __func__);
}

GMOD_EXPORT CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *ops,
						unsigned int flags)
{
	return batch(stream, count, ops, flags, NEXT(cuStreamBatchMemOp_v2_ptsz), __func__);
}
