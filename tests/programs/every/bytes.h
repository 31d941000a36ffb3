/* What copies and fills work on: memory of each kind, the same before each call, and a sum of all of it after it. */
#pragma once

#include "every.h"

#define N 4012 /* bytes of each, no multiple of 8 */

static CUdeviceptr p, q, managed;
static unsigned char host[N], *pinned;
static CUarray row, other_row; /* of N bytes */
static CUarray box;            /* of 64 x 4 x 3 */
static CUstream stream;
static CUcontext context;

static TK_UNUSED CUarray array_of(size_t width, size_t height, size_t depth)
{
	CUDA_ARRAY3D_DESCRIPTOR desc = {width, height, depth, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
	CUarray array;

	CK(cuArray3DCreate(&array, &desc));
	return array;
}

static TK_UNUSED void bytes_make(void)
{
	p = tk_alloc(N);
	q = tk_alloc(N);
	CK(cuMemAllocManaged(&managed, N, CU_MEM_ATTACH_GLOBAL));
	pinned = tk_pinned(N);
	row = array_of(N, 0, 0);
	other_row = array_of(N, 0, 0);
	box = array_of(64, 4, 3);
	stream = tk_stream();
	context = tk_context;
}

static TK_UNUSED void number(unsigned char *to, unsigned seed)
{
	for (unsigned i = 0; i < N; i++)
		to[i] = (unsigned char)((i * 167 + seed * 31) >> 3);
}

static TK_UNUSED CUDA_MEMCPY3D box_copy(void *from_or_to, int to_array)
{
	CUDA_MEMCPY3D c = {.WidthInBytes = 64, .Height = 4, .Depth = 3};

	c.srcMemoryType = to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
	c.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
	c.srcHost = c.dstHost = from_or_to;
	c.srcArray = c.dstArray = box;
	c.srcPitch = c.dstPitch = 64;
	c.srcHeight = c.dstHeight = 4;
	return c;
}

static TK_UNUSED void bytes_reset(void)
{
	static unsigned char text[N];
	CUDA_MEMCPY3D c = box_copy(text, 1);

	number(text, 1);
	CK(cuMemcpyHtoD(p, text, N));
	number(text, 2);
	CK(cuMemcpyHtoD(q, text, N));
	number(text, 3);
	CK(cuMemcpyHtoA(row, 0, text, N));
	number(text, 4);
	CK(cuMemcpyHtoA(other_row, 0, text, N));
	number(text, 5);
	CK(cuMemcpy3D(&c));
	number((unsigned char *)managed, 6);
	number(pinned, 7);
	number(host, 8);
}

/* The result, and a sum of each of them. */
static TK_UNUSED void bytes_say(const char *symbol, int r)
{
	static unsigned char text[N];
	CUDA_MEMCPY3D c = box_copy(text, 0);

	CK(cuCtxSynchronize());
	if (r == ABSENT) {
		every_say(symbol, r);
		return;
	}
	printf("%s: %d, host %08x %08x %08x", symbol, r, sum_of(host, N), sum_of(pinned, N),
	       sum_of((unsigned char *)managed, N));
	CK(cuMemcpyDtoH(text, p, N));
	printf(", device %08x", sum_of(text, N));
	CK(cuMemcpyDtoH(text, q, N));
	printf(" %08x", sum_of(text, N));
	CK(cuMemcpyAtoH(text, row, 0, N));
	printf(", array %08x", sum_of(text, N));
	CK(cuMemcpyAtoH(text, other_row, 0, N));
	printf(" %08x", sum_of(text, N));
	CK(cuMemcpy3D(&c));
	printf(" %08x\n", sum_of(text, 64 * 4 * 3));
}

/* One call on memory as it was made, and its sibling on the same. */
#define ON_BYTES(symbol, ...) \
	do { \
		bytes_reset(); \
		bytes_say(#symbol, hook_##symbol ? (int)hook_##symbol(__VA_ARGS__) : ABSENT); \
	} while (0)
#define BOTH_ON_BYTES(symbol, suffix, ...) \
	do { \
		bytes_reset(); \
		bytes_say(#symbol, hook_##symbol ? (int)hook_##symbol(__VA_ARGS__) : ABSENT); \
		bytes_reset(); \
		bytes_say(#symbol #suffix, hook_##symbol##suffix ? (int)hook_##symbol##suffix(__VA_ARGS__) : ABSENT); \
	} while (0)

/* Both siblings are refused, or both taken. */
#define REFUSED(symbol, suffix, ...) \
	do { \
		puts(#symbol "\n" #symbol #suffix); \
		EXPECT(hook_##symbol(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE); \
		EXPECT(hook_##symbol##suffix(__VA_ARGS__), CUDA_ERROR_INVALID_VALUE); \
	} while (0)
#define TAKEN(symbol, suffix, ...) \
	do { \
		CK(hook_##symbol(__VA_ARGS__)); \
		CK(hook_##symbol##suffix(__VA_ARGS__)); \
	} while (0)
