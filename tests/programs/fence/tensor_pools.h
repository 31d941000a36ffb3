/* Memory in stream order with fences: pools, what is left to the driver, and the ends of contexts. As tensors.h. */
#pragma once

#include "tensors.h"

/* ---- pools ---- */

static void say_sums(CUmemoryPool pool, const char *when)
{
	printf("%s: used %llu, at most %llu, anything reserved: %d\n", when,
	       (unsigned long long)pool_says(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT),
	       (unsigned long long)pool_says(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH),
	       pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) != 0);
}

static TK_UNUSED void pool_attributes(void)
{
	cuuint64_t all = UINT64_MAX, none = 0;
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE), of = NULL;
	CUstream s = tk_stream();
	CUdeviceptr p, base = 0;
	size_t size = 0;
	CUcontext context = tk_context;
	unsigned type = 0;

	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	p = make_from(pool, 3000, s);
	CK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p + 5));
	CK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p));
	CK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	CK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p));
	CK(cuMemGetAddressRange(&base, NULL, p + 2999));
	printf("its pool %d, context %p, type %u, size %zu, start %d\n", of == pool, (void *)context, type, size,
	       base == p);
	say_sums(pool, "one");
	CK(cuMemFreeAsync(p, s));
	say_sums(pool, "freed");
	CK(cuStreamSynchronize(s));
	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &none));
	say_sums(pool, "set back");
	p = make_from(pool, 100, s);
	say_sums(pool, "again");
	CK(cuMemFreeAsync(p, s));
	CK(cuStreamSynchronize(s));
	CK(cuMemPoolTrimTo(pool, 0));
	say_sums(pool, "trimmed");
	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none));
	CK(cuMemFreeAsync(make_from(pool, 100, s), s));
	CK(cuStreamSynchronize(s));
	say_sums(pool, "threshold 0");
	CK(cuMemPoolDestroy(pool));
	ask();
}

/* While the kernel runs, nothing of its buffer goes; then all of it does. */
static TK_UNUSED void trimmed(void)
{
	CUmemoryPool pool = default_pool();
	cuuint64_t all = UINT64_MAX;
	CUstream s = tk_stream();
	volatile int *flag = hold(s);
	CUdeviceptr p = make_pooled(SMALL, s);

	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	flip_end(p, SMALL, s, 0);
	CK(cuMemFreeAsync(p, s));
	CK(cuMemPoolTrimTo(pool, 0));
	REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > 0);
	let_go(flag);
	tk_sync();
	CK(cuMemPoolTrimTo(pool, 0));
	REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
	if (BUG)
		touch("fault_read", p, s);
	ask();
}

/* What a pool keeps goes to who needs it, if its work is done: that is waited for, rather than that he gets nothing. */
static TK_UNUSED void device_is_short(int waits)
{
	enum { LARGE = 160 << 20 };
	cuuint64_t all = UINT64_MAX;
	CUstream s = tk_stream();
	CUdeviceptr p[12], q;

	CK(cuMemPoolSetAttribute(default_pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	for (int i = 0; i < 12; i++)
		p[i] = make_pooled(10 << 20, s);
	for (int i = 0; i < 12; i++) {
		flip_end(p[i], 10 << 20, s, 0);
		CK(cuMemFreeAsync(p[i], s));
	}
	if (waits)
		CK(cuStreamSynchronize(s));
	q = make_pooled(LARGE, s);
	CK(cuMemFreeAsync(q, s));
	CK(cuStreamSynchronize(s));
	q = make_buffer(LARGE);
	if (FAULTS)
		touch("fault_read", p[3], s);
	ask();
	EXPECT(cuMemFree(q), FAULTS ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS);
}

/* More than fence_mb is not fenced, and what is freed counts no more. */
static TK_UNUSED void beyond_the_cap(void)
{
	CUstream s = tk_stream();
	CUdeviceptr p[4];

	for (int i = 0; i < 4; i++)
		p[i] = make_pooled(SMALL, s);
	for (int i = 0; i < 4; i++)
		CK(cuMemFreeAsync(p[i], s));
	CK(cuStreamSynchronize(s));
	p[0] = make_pooled(CHUNK + SMALL, s);
	touch("fault_read", p[0] + CHUNK + SMALL - (BUG ? 0 : 4), s);
	ask();
}

static TK_UNUSED void many(void)
{
	CUmemoryPool pool = default_pool();
	CUstream s[2] = {tk_stream(), tk_stream()};
	cuuint64_t all = UINT64_MAX;

	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	for (int i = 0; i < 100000; i++) {
		CUstream in = s[i / 100 % 2];
		CUdeviceptr p = make_pooled(100 + (size_t)(i % 7) * 100000, in);

		CK(cuMemFreeAsync(p, in));
		if (i % 1000 == 0)
			tk_sync();
	}
	tk_sync();
	REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
	REQUIRE(!BUG || pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) <= 64 << 20);
	ask();
}

/* Streams of threads, of their own kernels: nobody's last byte changes under it. */
static void *use_some(void *number)
{
	uint64_t seed = 1 + (uintptr_t)number;
	unsigned char last[3] = {0};
	CUdeviceptr p[3];
	CUstream s;

	CK(cuCtxSetCurrent(tk_context));
	s = tk_stream();
	for (int i = 0; i < 60; i++) {
		size_t size = 1 + tk_random(&seed) % 3000000;

		for (int k = 0; k < 3; k++) {
			p[k] = make_pooled(size, s);
			CK(cuMemsetD8Async(p[k] + size - 1, (unsigned char)(i + k), 1, s));
		}
		for (int k = 0; k < 3; k++)
			CK(cuMemcpyDtoHAsync(&last[k], p[k] + size - 1, 1, s));
		for (int k = 0; k < 3; k++)
			CK(k ? cuMemFreeAsync(p[k], s) : (cuStreamSynchronize(s), cuMemFree(p[k])));
		CK(cuStreamSynchronize(s));
		for (int k = 0; k < 3; k++)
			REQUIRE(last[k] == (unsigned char)(i + k));
		if (i % 20 == 0)
			CK(cuMemPoolTrimTo(default_pool(), 0));
	}
	return NULL;
}

static TK_UNUSED void tensors_of_threads(void)
{
	CUstream s;
	CUdeviceptr p;

	tk_start();
	tk_in_threads(8, use_some);
	s = tk_stream();
	p = make_pooled(SMALL, s);
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), s);
	ask();
}

/* ---- left to the driver ---- */

static TK_UNUSED void pool_exported(void)
{
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	CUstream s = tk_stream();
	CUdeviceptr p = make_from(pool, SMALL, s);

	tk_flip_on(s, p, SMALL - (BUG ? 0 : 4), 4);
	ask();
}

static TK_UNUSED void pool_in_a_capture(void)
{
	CUstream s = tk_stream(), other = tk_stream();
	CUdeviceptr before = make_pooled(SMALL, s), p;
	CUgraph graph;

	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	CK(cuMemFreeAsync(make_pooled(SMALL, s), s));
	p = make_pooled(SMALL, other);
	if (BUG)
		EXPECT(cuMemFreeAsync(before, s), CUDA_ERROR_INVALID_VALUE);
	CK(cuStreamEndCapture(s, &graph));
	tk_run_graph(graph, s, 2);
	tk_flip_on(other, p, SMALL - (BUG ? 0 : 4), 4);
	CK(cuMemFreeAsync(p, other));
	CK(cuMemFreeAsync(before, s));
	ask();
}

/* The pool lets the second device in: its buffer that is there has its fences filled, and the next one has none. */
static TK_UNUSED void pool_opened(int before)
{
	CUcontext owner = go_to_device(0);
	CUmemAccessDesc reader = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUstream s = tk_stream();
	CUdeviceptr p;

	need_peers();
	if (before)
		CK(cuMemPoolSetAccess(default_pool(), &reader, 1));
	p = make_pooled(SMALL, s);
	if (!before)
		CK(cuMemPoolSetAccess(default_pool(), &reader, 1));
	CK(cuStreamSynchronize(s));
	go_to_device(1);
	touch("fault_stay", p + SMALL - (BUG ? 0 : 4), NULL);
	ask();
	CK(cuCtxSetCurrent(owner));
	CK(cuMemFreeAsync(p, s));
	ask();
}

/* ---- ends ---- */

/* Of a context with streams, beside which another one goes on. */
static TK_UNUSED void tensor_context_ends(void)
{
	CUcontext c = tk_start_in_new_context();
	CUstream s = tk_stream();
	CUdeviceptr p = make_pooled(SMALL, s), q;

	flip_end(p, SMALL, s, 0);
	CK(cuMemFreeAsync(p, s));
	CK(cuCtxDestroy(c));
	tk_new_context();
	s = tk_stream();
	q = make_pooled(SMALL, s);
	touch("fault_read", q + SMALL - (BUG ? 0 : 4), s);
	ask();
}

/* What lives then is gone. */
static TK_UNUSED void primary_reset(void)
{
	CUstream s = tk_stream();
	CUdeviceptr p = make_pooled(SMALL, s), base;

	flip_end(p, SMALL, s, 0);
	CK(cuStreamSynchronize(s));
	CK(cuDevicePrimaryCtxReset(tk_device));
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = tk_load_kernels();
	REQUIRE(!BUG || cuMemGetAddressRange(&base, NULL, p + SMALL - 1) != CUDA_SUCCESS || base != p);
	s = tk_stream();
	p = make_pooled(SMALL, s);
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), s);
	ask();
}
