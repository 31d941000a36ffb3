// guarded: some
/*
 * Batches of copies, in an ordinary stream and in one of a green context, where the driver takes only memory that is a
 * context's, as what is allocated there is: the buffers are as large as those that GMOD maps, and all bytes arrive.
 */
#include "green.h"

enum { SIZE = 5 << 20, PIECES = 3, PIECE = 1000, W = 40, H = 6, D = 4, ELEMENT = 8 };

static CUmemcpyAttributes attributes[] = {
    {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
    {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL},
};
static size_t first_of[] = {0, 1};

static void copy(CUdeviceptr to, CUdeviceptr from, CUstream stream)
{
	CUdeviceptr dst[PIECES], src[PIECES];
	size_t bytes[PIECES];

	for (size_t i = 0; i < PIECES; i++) {
		dst[i] = to + i * PIECE;
		src[i] = from + i * PIECE;
		bytes[i] = PIECE;
	}
	CK(cuMemcpyBatchAsync(dst, src, bytes, PIECES, attributes, first_of, 2, stream));
}

/* The source, which a device reads itself, is another's when the call returns; until then the stream was busy. */
static void copy_ephemeral(CUdeviceptr to, CUstream stream)
{
	unsigned char *from;

	CK(cuMemAllocHost((void **)&from, PIECES * PIECE));
	for (size_t i = 0; i < PIECES * PIECE; i++)
		from[i] = (unsigned char)(i * 3);
	CK(cuMemsetD8Async(to, 1, SIZE, stream));
	attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
	copy(to, (CUdeviceptr)(uintptr_t)from, stream);
	attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
	memset(from, 0, PIECES * PIECE);
	CK(cuMemFreeHost(from));
}

static void linear(CUdeviceptr a, CUdeviceptr b, CUstream stream)
{
	unsigned char *back;

	CK(cuMemAllocHost((void **)&back, PIECES * PIECE));
	copy_ephemeral(a, stream);
	copy(b + 1, a, stream);
	copy((CUdeviceptr)(uintptr_t)back, b + 1, stream);
	CK(cuStreamSynchronize(stream));
	for (size_t i = 0; i < PIECES * PIECE; i++)
		REQUIRE(back[i] == (unsigned char)(i * 3));
	CK(cuMemFreeHost(back));
}

static CUmemcpy3DOperand at_pointer(CUdeviceptr p, size_t row, size_t rows)
{
	return (CUmemcpy3DOperand){.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
				   .op.ptr = {.ptr = p, .rowLength = row, .layerHeight = rows}};
}

static CUmemcpy3DOperand at_array(CUarray array)
{
	return (CUmemcpy3DOperand){.type = CU_MEMCPY_OPERAND_TYPE_ARRAY,
				   .op.array = {.array = array, .offset = {2, 1, 0}}};
}

static void box(CUmemcpy3DOperand to, CUmemcpy3DOperand from, size_t width, CUstream stream)
{
	CUDA_MEMCPY3D_BATCH_OP op = {
	    .src = from, .dst = to, .extent = {width, H, D}, .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

	CK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
}

/* Elements of one byte between pointers, of ELEMENT bytes where an array is one side. */
static void boxes(CUdeviceptr a, CUdeviceptr b, CUstream stream)
{
	CUDA_ARRAY3D_DESCRIPTOR what = {
	    .Width = W + 2, .Height = H + 1, .Depth = D, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 2};
	size_t bytes = (size_t)W * ELEMENT * H * D;
	unsigned char *host;
	CUarray array;

	CK(cuArray3DCreate(&array, &what));
	CK(cuMemAllocHost((void **)&host, bytes));
	for (size_t i = 0; i < bytes; i++)
		host[i] = (unsigned char)(i * 7 + i / 256);
	box(at_pointer(a, 512, H + 1), at_pointer((CUdeviceptr)(uintptr_t)host, 0, 0), W * ELEMENT, stream);
	box(at_array(array), at_pointer(a, 512 / ELEMENT, H + 1), W, stream);
	box(at_pointer(b, 0, 0), at_array(array), W, stream);
	CK(cuStreamSynchronize(stream));
	memset(host, 0, bytes);
	box(at_pointer((CUdeviceptr)(uintptr_t)host, 0, 0), at_pointer(b, 0, 0), W * ELEMENT, stream);
	CK(cuStreamSynchronize(stream));
	for (size_t i = 0; i < bytes; i++)
		REQUIRE(host[i] == (unsigned char)(i * 7 + i / 256));
	CK(cuMemFreeHost(host));
	CK(cuArrayDestroy(array));
}

/* What is wrong natively stays so. */
static void refusals(CUdeviceptr a, CUdeviceptr b, CUstream stream)
{
	size_t bytes = 8;

	first_of[0] = 1;
	printf("%d ", cuMemcpyBatchAsync(&b, &a, &bytes, 1, attributes, first_of, 1, stream));
	first_of[0] = 0;
	printf("%d ", cuMemcpyBatchAsync(&b, &a, &bytes, 0, attributes, first_of, 1, stream));
	printf("%d\n", cuMemcpyBatchAsync(&b, &a, &bytes, 1, attributes, first_of, 0, stream));
}

/* Captures take no batches, and go on. */
static void captured(CUdeviceptr a, CUdeviceptr b, CUstream stream)
{
	CUDA_MEMCPY3D_BATCH_OP op = {.src = at_pointer(a, 0, 0),
				     .dst = at_pointer(b, 0, 0),
				     .extent = {W, H, D},
				     .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	size_t bytes = 8, nodes = 0;
	CUgraph graph;

	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	printf("%d ", cuMemcpyBatchAsync(&b, &a, &bytes, 1, attributes, first_of, 1, stream));
	printf("%d ", cuMemcpy3DBatchAsync(1, &op, 0, stream));
	CK(cuMemsetD8Async(b, 1, SIZE, stream));
	CK(cuStreamEndCapture(stream, &graph));
	CK(cuGraphGetNodes(graph, NULL, &nodes));
	printf("%zu\n", nodes);
	CK(cuGraphDestroy(graph));
}

static void batches(CUstream stream)
{
	CUdeviceptr a = tk_alloc(SIZE);
	CUdeviceptr b = tk_alloc(SIZE);

	for (int i = 0; i < 3; i++) {
		linear(a, b, stream);
		boxes(a, b, stream);
	}
	refusals(a, b, stream);
	captured(a, b, stream);
	CK(cuStreamDestroy(stream));
	CK(cuMemFree(a));
	CK(cuMemFree(b));
}

int main(void)
{
	CUgreenCtx green;
	CUcontext c;
	CUstream stream = tk_stream();

	batches(stream);
	green = make_green(&c);
	CK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
	batches(stream);
	CK(cuCtxSetCurrent(tk_context));
	CK(cuGreenCtxDestroy(green));
	puts("arrived");
}
