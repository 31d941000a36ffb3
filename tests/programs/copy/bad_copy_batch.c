// expect: api-out-of-bounds size 10000 in make_buffer
// expect: api-out-of-bounds size 20000 in make_buffer
/* A batch whose second copy does not fit, and one of boxes: refused as natively, and of the first it is said which. */
#include "make_buffer.h"

typedef CUresult (*copy_batch)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t,
			       size_t *, CUstream);

static CUstream stream;

static void outside(void)
{
	CUdeviceptr p = make_buffer(10000), from = make_buffer(10000);
	CUdeviceptr dst[] = {p, p + 9000}, src[] = {from, from};
	CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	size_t bytes[] = {1000, 1001}, first = 0, failed = 77;
	copy_batch copy;

	/* As 12.8 has it. */
	CK(cuGetProcAddress("cuMemcpyBatchAsync", (void **)&copy, 12080, 0, NULL));
	EXPECT(copy(dst, src, bytes, 2, &attributes, &first, 1, &failed, stream), CUDA_ERROR_INVALID_VALUE);
	REQUIRE(failed == 1);
	bytes[1] = 1000;
	CK(copy(dst, src, bytes, 2, &attributes, &first, 1, &failed, stream));
	CK(cuStreamSynchronize(stream));
	CK(cuMemFree(from));
	CK(cuMemFree(p));
}

static void boxes_outside(void)
{
	CUdeviceptr p = make_buffer(20000), from = make_buffer(20000);
	CUDA_MEMCPY3D_BATCH_OP op = {
	    .src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = from, .rowLength = 100}},
	    .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = p, .rowLength = 200}},
	    .extent = {100, 101, 1},
	    .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
	};

	EXPECT(cuMemcpy3DBatchAsync(1, &op, 0, stream), CUDA_ERROR_INVALID_VALUE);
	op.extent.height = 100;
	CK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
	CK(cuStreamSynchronize(stream));
	CK(cuMemFree(from));
	CK(cuMemFree(p));
}

int main(void)
{
	tk_start();
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	outside();
	boxes_outside();
}
