/*
 * Words written and waited for in stream order. The driver refuses them on managed memory (measured: INVALID_VALUE). A
 * written word becomes a fill of one word, which is ordered in the same way; the others keep the driver's refusal, and
 * the user is told what helps. Past the end of a buffer lies memory of ours that it would take them on: they are
 * refused there, as natively.
 */
#include "lib/hooks/hook.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/stand_in.h"

static CUresult finish(CUresult r, uint64_t address, const char *entry_point)
{
	if (r == CUDA_ERROR_INVALID_VALUE)
		gmod_stand_in_refused(address, entry_point);
	gmod_active();
	return gmod_done(r, entry_point);
}

static bool becomes_a_fill(CUdeviceptr address, unsigned flags)
{
	return flags == CU_STREAM_WRITE_VALUE_DEFAULT && address % sizeof(cuuint32_t) == 0 && gmod_stands_in(address);
}

#define WRITE_32(symbol, fill) \
	GMOD_EXPORT CUresult symbol(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) \
	{ \
		if (gmod_misuse_refuses(addr, sizeof(value), __func__)) \
			return CUDA_ERROR_INVALID_VALUE; \
		if (becomes_a_fill(addr, flags)) \
			return finish(NEXT(fill)(addr, value, 1, stream), addr, __func__); \
		return finish(NEXT(symbol)(stream, addr, value, flags), addr, __func__); \
	}

#define ONE_WORD(symbol, type) \
	GMOD_EXPORT CUresult symbol(CUstream stream, CUdeviceptr addr, type value, unsigned int flags) \
	{ \
		if (gmod_misuse_refuses(addr, sizeof(value), __func__)) \
			return CUDA_ERROR_INVALID_VALUE; \
		return finish(NEXT(symbol)(stream, addr, value, flags), addr, __func__); \
	}

#define BATCH(symbol) \
	GMOD_EXPORT CUresult symbol(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, \
				    unsigned int flags) \
	{ \
		CUresult r; \
\
		for (unsigned i = 0; paramArray && i < count; i++) \
			if (gmod_misuse_refuses(address_of(&paramArray[i]), width_of(&paramArray[i]), __func__)) \
				return CUDA_ERROR_INVALID_VALUE; \
		r = NEXT(symbol)(stream, count, paramArray, flags); \
		for (unsigned i = 0; r == CUDA_ERROR_INVALID_VALUE && paramArray && i < count; i++) \
			gmod_stand_in_refused(address_of(&paramArray[i]), __func__); \
		return finish(r, 0, __func__); \
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

WRITE_32(cuStreamWriteValue32, cuMemsetD32Async)
WRITE_32(cuStreamWriteValue32_ptsz, cuMemsetD32Async_ptsz)
WRITE_32(cuStreamWriteValue32_v2, cuMemsetD32Async)
WRITE_32(cuStreamWriteValue32_v2_ptsz, cuMemsetD32Async_ptsz)
ONE_WORD(cuStreamWriteValue64, cuuint64_t)
ONE_WORD(cuStreamWriteValue64_ptsz, cuuint64_t)
ONE_WORD(cuStreamWriteValue64_v2, cuuint64_t)
ONE_WORD(cuStreamWriteValue64_v2_ptsz, cuuint64_t)
ONE_WORD(cuStreamWaitValue32, cuuint32_t)
ONE_WORD(cuStreamWaitValue32_ptsz, cuuint32_t)
ONE_WORD(cuStreamWaitValue32_v2, cuuint32_t)
ONE_WORD(cuStreamWaitValue32_v2_ptsz, cuuint32_t)
ONE_WORD(cuStreamWaitValue64, cuuint64_t)
ONE_WORD(cuStreamWaitValue64_ptsz, cuuint64_t)
ONE_WORD(cuStreamWaitValue64_v2, cuuint64_t)
ONE_WORD(cuStreamWaitValue64_v2_ptsz, cuuint64_t)
BATCH(cuStreamBatchMemOp)
BATCH(cuStreamBatchMemOp_ptsz)
BATCH(cuStreamBatchMemOp_v2)
BATCH(cuStreamBatchMemOp_v2_ptsz)
