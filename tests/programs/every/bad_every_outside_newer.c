// expect: 8 x api-out-of-bounds size 4012 in make_buffer
// needs: cuMemcpyBatchAsync_v2
/*
 * Batches of copies by each ABI and both default streams, whose last copy is a byte too long: refused as a whole, and
 * where the ABI has a place for it, with the number of the copy. Just up to the end, none is.
 */
#include "../make_buffer.h"
#include "bytes.h"

/* By the second one. */
#define FAILED(symbol, ...) \
	do { \
		puts(#symbol); \
		failed = 77; \
		EXPECT(hook_##symbol(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE); \
		REQUIRE(failed == 1); \
	} while (0)

int main(void)
{
	CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	CUdeviceptr to[2], from[2];
	size_t sizes[] = {9, N - 9}, first[1] = {0}, failed;
	CUDA_MEMCPY3D_BATCH_OP ops[2] = {{
	    .src.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
	    .dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
	    .extent = {60, 2, 1},
	    .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
	}};

	bytes_make();
	CK(cuMemFree(p));
	p = make_buffer(N);
	every_by_name();
	to[0] = ops[0].dst.op.ptr.ptr = p;
	to[1] = p + 9;
	from[0] = from[1] = ops[0].src.op.ptr.ptr = q;
	ops[1] = ops[0];
	ops[1].dst.op.ptr.ptr = p + N - 120;
	TAKEN(cuMemcpyBatchAsync, _ptsz, to, from, sizes, 2, &attributes, first, 1, &failed, stream);
	TAKEN(cuMemcpyBatchAsync_v2, _ptsz, to, from, sizes, 2, &attributes, first, 1, stream);
	TAKEN(cuMemcpy3DBatchAsync, _ptsz, 2, ops, &failed, 0, stream);
	TAKEN(cuMemcpy3DBatchAsync_v2, _ptsz, 2, ops, 0, stream);
	tk_sync();
	sizes[1]++;
	ops[1].extent.width++;
	FAILED(cuMemcpyBatchAsync, to, from, sizes, 2, &attributes, first, 1, &failed, stream);
	FAILED(cuMemcpyBatchAsync_ptsz, to, from, sizes, 2, &attributes, first, 1, &failed, stream);
	REFUSED(cuMemcpyBatchAsync_v2, _ptsz, to, from, sizes, 2, &attributes, first, 1, stream);
	FAILED(cuMemcpy3DBatchAsync, 2, ops, &failed, 0, stream);
	FAILED(cuMemcpy3DBatchAsync_ptsz, 2, ops, &failed, 0, stream);
	REFUSED(cuMemcpy3DBatchAsync_v2, _ptsz, 2, ops, 0, stream);
	tk_sync();
}
