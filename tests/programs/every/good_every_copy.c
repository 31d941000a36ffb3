/* Every copy there is, each by both of its default streams: what it returns and what it changes is as without GMOD. */
#include "bytes.h"

static void linear(void)
{
	BOTH_ON_BYTES(cuMemcpy, _ptds, p + 3, q + 5, 1001);
	BOTH_ON_BYTES(cuMemcpyAsync, _ptsz, p + 3, q + 6, 1002, stream);
	BOTH_ON_BYTES(cuMemcpyPeer, _ptds, p + 4, context, q + 5, context, 1003);
	BOTH_ON_BYTES(cuMemcpyPeerAsync, _ptsz, p + 4, context, q + 6, context, 1004, NULL);
	BOTH_ON_BYTES(cuMemcpyHtoD_v2, _ptds, p + 5, host, N - 5);
	BOTH_ON_BYTES(cuMemcpyHtoDAsync_v2, _ptsz, q + 5, pinned + 1, N - 5, NULL);
	BOTH_ON_BYTES(cuMemcpyDtoH_v2, _ptds, host + 6, p, N - 6);
	BOTH_ON_BYTES(cuMemcpyDtoHAsync_v2, _ptsz, pinned + 6, q + 1, N - 6, NULL);
	BOTH_ON_BYTES(cuMemcpyDtoD_v2, _ptds, p, q + 7, N - 7);
	BOTH_ON_BYTES(cuMemcpyDtoDAsync_v2, _ptsz, q, p + 7, N - 7, stream);
}

static void arrays(void)
{
	BOTH_ON_BYTES(cuMemcpyDtoA_v2, _ptds, row, 11, p + 1, 1201);
	BOTH_ON_BYTES(cuMemcpyAtoD_v2, _ptds, q + 2, row, 12, 1202);
	BOTH_ON_BYTES(cuMemcpyHtoA_v2, _ptds, row, 13, host, 1203);
	BOTH_ON_BYTES(cuMemcpyAtoH_v2, _ptds, host + 3, other_row, 14, 1204);
	BOTH_ON_BYTES(cuMemcpyAtoA_v2, _ptds, row, 15, other_row, 16, 1205);
	BOTH_ON_BYTES(cuMemcpyHtoAAsync_v2, _ptsz, other_row, 17, pinned, 1206, NULL);
	BOTH_ON_BYTES(cuMemcpyAtoHAsync_v2, _ptsz, pinned + 4, row, 18, 1207, stream);
}

static void boxes(void)
{
	CUDA_MEMCPY2D flat = {
	    .srcMemoryType = CU_MEMORYTYPE_DEVICE,
	    .srcDevice = q,
	    .srcXInBytes = 3,
	    .srcY = 1,
	    .srcPitch = 80,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	    .dstDevice = p,
	    .dstXInBytes = 4,
	    .dstY = 2,
	    .dstPitch = 96,
	    .WidthInBytes = 33,
	    .Height = 20,
	};
	CUDA_MEMCPY3D solid = {
	    .srcMemoryType = CU_MEMORYTYPE_HOST,
	    .srcHost = pinned,
	    .srcXInBytes = 5,
	    .srcY = 1,
	    .srcZ = 1,
	    .srcPitch = 64,
	    .srcHeight = 9,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	    .dstDevice = p,
	    .dstXInBytes = 6,
	    .dstY = 2,
	    .dstPitch = 72,
	    .dstHeight = 10,
	    .WidthInBytes = 41,
	    .Height = 7,
	    .Depth = 4,
	};
	CUDA_MEMCPY3D into_array = solid;
	CUDA_MEMCPY3D_PEER between;

	BOTH_ON_BYTES(cuMemcpy2D_v2, _ptds, &flat);
	BOTH_ON_BYTES(cuMemcpy2DAsync_v2, _ptsz, &flat, stream);
	flat.srcXInBytes = 1;
	BOTH_ON_BYTES(cuMemcpy2DUnaligned_v2, _ptds, &flat);
	BOTH_ON_BYTES(cuMemcpy3D_v2, _ptds, &solid);
	BOTH_ON_BYTES(cuMemcpy3DAsync_v2, _ptsz, &solid, NULL);
	memcpy(&between, &solid, sizeof(between));
	between.srcContext = between.dstContext = context;
	BOTH_ON_BYTES(cuMemcpy3DPeer, _ptds, &between);
	BOTH_ON_BYTES(cuMemcpy3DPeerAsync, _ptsz, &between, stream);
	into_array.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	into_array.dstArray = box;
	into_array.dstY = 0;
	into_array.Height = 4;
	into_array.Depth = 2;
	BOTH_ON_BYTES(cuMemcpy3D_v2, _ptds, &into_array);
}

static void batches(void)
{
	CUdeviceptr dst[] = {p + 1, q + 700, (CUdeviceptr)pinned}, src[] = {q + 1, (CUdeviceptr)pinned, p + 1000};
	size_t size[] = {600, 601, 602}, first[] = {0}, failed = 5;
	CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	CUDA_MEMCPY3D_BATCH_OP op = {
	    .src = {CU_MEMCPY_OPERAND_TYPE_POINTER, {.ptr = {.ptr = q + 2, .rowLength = 50, .layerHeight = 5}}},
	    .dst = {CU_MEMCPY_OPERAND_TYPE_POINTER, {.ptr = {.ptr = p + 9, .rowLength = 60, .layerHeight = 6}}},
	    .extent = {40, 4, 3},
	    .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
	};

	BOTH_ON_BYTES(cuMemcpyBatchAsync, _ptsz, dst, src, size, 3, &attributes, first, 1, &failed, stream);
	printf("failed: %zx\n", failed);
	BOTH_ON_BYTES(cuMemcpyBatchAsync_v2, _ptsz, dst, src, size, 3, &attributes, first, 1, stream);
	BOTH_ON_BYTES(cuMemcpy3DBatchAsync, _ptsz, 1, &op, &failed, 0, stream);
	printf("failed: %zx\n", failed);
	BOTH_ON_BYTES(cuMemcpy3DBatchAsync_v2, _ptsz, 1, &op, 0, stream);
	BOTH_ON_BYTES(cuMemcpyWithAttributesAsync, _ptsz, p + 1, q + 2, 603, &attributes, stream);
	BOTH_ON_BYTES(cuMemcpy3DWithAttributesAsync, _ptsz, &op, 0, stream);
}

static void calls(void)
{
	linear();
	arrays();
	boxes();
	batches();
}

int main(void)
{
	bytes_make();
	every_way(calls);
}
