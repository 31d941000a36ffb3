// expect: 88 x api-out-of-bounds size 4012 in make_buffer
// expect: 16 x api-out-of-bounds size 4012 in bytes_make
// options: max_reports=1000
// under managed: skip-on: sim
/*
 * Every copy, fill and word written or waited for that drivers have had for long, each by both of its default streams,
 * a byte or an element beyond the end of a buffer: refused as natively, and reported each time. Just up to the end,
 * none is.
 */
#include "../make_buffer.h"
#include "bytes.h"

/* more: bytes beyond the end. */
#define COPIES(WHAT, more) \
	WHAT(cuMemcpy, _ptds, p + 9, q, N - 9 + more); \
	WHAT(cuMemcpyAsync, _ptsz, q, p + 9, N - 9 + more, stream); \
	WHAT(cuMemcpyPeer, _ptds, p + 9, context, q, context, N - 9 + more); \
	WHAT(cuMemcpyPeerAsync, _ptsz, q, context, p + 9, context, N - 9 + more, stream); \
	WHAT(cuMemcpyHtoD_v2, _ptds, p + 9, host, N - 9 + more); \
	WHAT(cuMemcpyHtoDAsync_v2, _ptsz, p + 9, pinned, N - 9 + more, stream); \
	WHAT(cuMemcpyDtoH_v2, _ptds, host, p + 9, N - 9 + more); \
	WHAT(cuMemcpyDtoHAsync_v2, _ptsz, pinned, p + 9, N - 9 + more, stream); \
	WHAT(cuMemcpyDtoD_v2, _ptds, p + 9, q, N - 9 + more); \
	WHAT(cuMemcpyDtoDAsync_v2, _ptsz, q, p + 9, N - 9 + more, stream); \
	WHAT(cuMemcpyDtoA_v2, _ptds, row, 1, p + 9, N - 9 + more); \
	WHAT(cuMemcpyAtoD_v2, _ptds, p + 9, row, 1, N - 9 + more)

/* The same with the sides exchanged. */
#define COPIES_BACK(WHAT, more) \
	WHAT(cuMemcpy, _ptds, q, p + 9, N - 9 + more); \
	WHAT(cuMemcpyAsync, _ptsz, p + 9, q, N - 9 + more, stream); \
	WHAT(cuMemcpyPeer, _ptds, q, context, p + 9, context, N - 9 + more); \
	WHAT(cuMemcpyPeerAsync, _ptsz, p + 9, context, q, context, N - 9 + more, stream); \
	WHAT(cuMemcpyDtoD_v2, _ptds, q, p + 9, N - 9 + more); \
	WHAT(cuMemcpyDtoDAsync_v2, _ptsz, p + 9, q, N - 9 + more, stream); \
	WHAT(cuMemcpy2D_v2, _ptds, &back)

/* Past the end of a pinned buffer. */
#define PINNED(WHAT, more) \
	WHAT(cuMemcpyHtoD_v2, _ptds, q, pinned + 9, N - 9 + more); \
	WHAT(cuMemcpyHtoDAsync_v2, _ptsz, q, pinned + 9, N - 9 + more, stream); \
	WHAT(cuMemcpyDtoH_v2, _ptds, pinned + 9, q, N - 9 + more); \
	WHAT(cuMemcpyDtoHAsync_v2, _ptsz, pinned + 9, q, N - 9 + more, stream); \
	WHAT(cuMemcpyHtoA_v2, _ptds, row, 1, pinned + 9, N - 9 + more); \
	WHAT(cuMemcpyHtoAAsync_v2, _ptsz, row, 1, pinned + 9, N - 9 + more, stream); \
	WHAT(cuMemcpyAtoH_v2, _ptds, pinned + 9, row, 1, N - 9 + more); \
	WHAT(cuMemcpyAtoHAsync_v2, _ptsz, pinned + 9, row, 1, N - 9 + more, stream)

#define FILLS(WHAT, bits, more) \
	WHAT(cuMemsetD##bits##_v2, _ptds, p + 8, 1, (N - 8) / (bits / 8) + more); \
	WHAT(cuMemsetD##bits##Async, _ptsz, p + 8, 1, (N - 8) / (bits / 8) + more, stream); \
	WHAT(cuMemsetD2D##bits##_v2, _ptds, p + N - 148, 80, 1, 68 / (bits / 8) + more, 2); \
	WHAT(cuMemsetD2D##bits##Async, _ptsz, p + N - 148, 80, 1, 68 / (bits / 8) + more, 2, stream)

/* 2 rows of 60 bytes, 64 apart, the last of which ends with the buffer. */
#define BOXES(WHAT, more) \
	flat.WidthInBytes = back.WidthInBytes = solid.WidthInBytes = between.WidthInBytes = 60 + more; \
	WHAT(cuMemcpy2D_v2, _ptds, &flat); \
	WHAT(cuMemcpy2DAsync_v2, _ptsz, &flat, stream); \
	WHAT(cuMemcpy2DUnaligned_v2, _ptds, &flat); \
	WHAT(cuMemcpy3D_v2, _ptds, &solid); \
	WHAT(cuMemcpy3DAsync_v2, _ptsz, &solid, stream); \
	WHAT(cuMemcpy3DPeer, _ptds, &between); \
	WHAT(cuMemcpy3DPeerAsync, _ptsz, &between, stream)

/* The last word of the buffer, or the one behind it. The first ABIs of these are not supported (driver 580). */
#define WORDS(WHAT, abi, bits, more) \
	WHAT(cuStreamWriteValue##bits##abi, _ptsz, stream, p + N / 8 * 8 - 8 + 8 * more, 0, 0); \
	WHAT(cuStreamWaitValue##bits##abi, _ptsz, stream, p + N / 8 * 8 - 8 + 8 * more, 0, CU_STREAM_WAIT_VALUE_GEQ)

#define STREAM_WORDS(WHAT, more) \
	ops[1].writeValue.address = p + N - 4 + 4 * more; \
	ops[2].waitValue.address = p + N / 8 * 8 - 8 + 8 * more; \
	WORDS(WHAT, _v2, 32, 2 * more); \
	WORDS(WHAT, _v2, 64, more); \
	WHAT(cuStreamBatchMemOp_v2, _ptsz, stream, 2, ops, 0); \
	WHAT(cuStreamBatchMemOp_v2, _ptsz, stream, 1, ops + 2, 0)

#define ALL(WHAT, more) \
	STREAM_WORDS(WHAT, more); \
	COPIES(WHAT, more); \
	FILLS(WHAT, 8, more); \
	FILLS(WHAT, 16, more); \
	FILLS(WHAT, 32, more); \
	BOXES(WHAT, more); \
	COPIES_BACK(WHAT, more); \
	PINNED(WHAT, more)

int main(void)
{
	CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 64, .Height = 2};
	CUDA_MEMCPY3D solid = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcPitch = 64, .Height = 2, .Depth = 1};
	CUDA_MEMCPY2D back = {.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host, .dstPitch = 64, .Height = 2};
	CUDA_MEMCPY3D_PEER between;
	CUstreamBatchMemOpParams ops[3] = {{.memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER}},
					   {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32}},
					   {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64}}};

	bytes_make();
	CK(cuMemFree(p));
	p = make_buffer(N);
	every_by_name();
	flat.dstMemoryType = solid.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	flat.dstPitch = solid.dstPitch = 64;
	flat.dstDevice = solid.srcDevice = p + N - 124;
	solid.dstDevice = q;
	back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	back.srcPitch = 64;
	back.srcDevice = flat.dstDevice;
	memcpy(&between, &solid, sizeof(between));
	between.srcContext = between.dstContext = context;
	ALL(TAKEN, 0);
	tk_sync();
	ALL(REFUSED, 1);
	tk_sync();
}
