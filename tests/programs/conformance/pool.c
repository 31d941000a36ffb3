/* Memory in stream order: what a pool keeps, who may have what was freed, what joins and what waits for what. */
#include "conformance.h"

enum { SOME = 64 << 20, SMALL = 1000 };

/* One that orders no stream behind another to reuse memory. */
static CUmemoryPool pool_new(cuuint64_t threshold)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = tk_device}};
	CUmemoryPool pool;
	int no = 0;

	CK(cuMemPoolCreate(&pool, &props));
	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no));
	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	return pool;
}

static cuuint64_t asked(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	cuuint64_t value = 0;

	CK(cuMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static CUdeviceptr taken(CUmemoryPool pool, size_t size, CUstream stream)
{
	CUdeviceptr p;

	CK(cuMemAllocFromPoolAsync(&p, size, pool, stream));
	return p;
}

static void come_and_go(CUmemoryPool pool)
{
	CK(cuMemFreeAsync(taken(pool, SOME, NULL), NULL));
}

static void spacing_of_pool(void)
{
	CUmemoryPool pool = pool_new(0);
	CUdeviceptr p = taken(pool, SMALL, NULL), q = taken(pool, SMALL, NULL);

	fact(number(q > p ? (long long)(q - p) : (long long)(p - q)), "spacing of cuMemAllocFromPoolAsync(1000)");
	CK(cuMemFreeAsync(p, NULL));
	CK(cuMemFreeAsync(q, NULL));
	tk_sync();
	CK(cuMemPoolDestroy(pool));
}

/* In the words of the device's free memory and of the pool. */
static void is_kept(CUmemoryPool pool, size_t free_before, const char *when)
{
	size_t left, total;

	CK(cuMemGetInfo(&left, &total));
	fact(yes_no(asked(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= SOME), "%s, a pool keeps what was freed",
	     when);
	fact(yes_no(left + SOME <= free_before), "%s, it is missing from the free memory", when);
}

/* What is called used are the bytes that were asked for. */
static void counted(void)
{
	CUmemoryPool pool = pool_new(0);
	CUdeviceptr p = taken(pool, 1000, NULL), q = taken(pool, 5, NULL);

	fact(number((long long)asked(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)),
	     "of a pool, with 1000 and 5 bytes, is used");
	CK(cuMemFreeAsync(q, NULL));
	tk_sync();
	CK(cuMemFree(p));
	fact(number((long long)asked(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)), "of it is reserved after cuMemFree");
	CK(cuMemPoolDestroy(pool));
}

static void kept(void)
{
	CUmemoryPool pool = pool_new(UINT64_MAX), loose = pool_new(0);
	size_t before, total;

	CK(cuMemGetInfo(&before, &total));
	come_and_go(loose);
	tk_sync();
	is_kept(loose, before, "after a synchronise with threshold 0");
	come_and_go(pool);
	tk_sync();
	is_kept(pool, before, "after a synchronise with a threshold");
	fact(number((long long)asked(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)), "and of it is used");
	fact(yes_no(asked(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) >= SOME), "its high mark of what was used says so");
	CK(cuMemPoolTrimTo(pool, SOME));
	is_kept(pool, before, "after trimming it to as much");
	CK(cuMemPoolTrimTo(pool, 0));
	is_kept(pool, before, "after trimming it to nothing");
	CK(cuMemPoolDestroy(pool));
	CK(cuMemPoolDestroy(loose));
}

/* A kernel runs until release() in the one stream of three; the other two are empty. */
struct busy {
	CUstream stream, second, third;
	volatile int *flag;
	CUmemoryPool pool;
};

static void hold(struct busy *b, unsigned flags)
{
	CUdeviceptr none = 0;
	long long zero = 0;

	b->pool = pool_new(UINT64_MAX);
	b->flag = tk_flag();
	CK(cuStreamCreate(&b->stream, flags));
	CK(cuStreamCreate(&b->second, flags));
	CK(cuStreamCreate(&b->third, flags));
	tk_launch(tk_kernel("k_wait_flip"), 1, 1, b->stream, TK_ARGS(&none, &zero, &zero, &b->flag));
}

static void release(struct busy *b)
{
	*b->flag = 1;
	tk_sync();
	CK(cuMemFreeHost((void *)b->flag));
	CK(cuStreamDestroy(b->stream));
	CK(cuStreamDestroy(b->second));
	CK(cuStreamDestroy(b->third));
	CK(cuMemPoolDestroy(b->pool));
}

static void is_reused(const struct busy *b, CUdeviceptr freed, CUstream stream, const char *where)
{
	CUdeviceptr p = taken(b->pool, SMALL, stream);

	fact(yes_no(p == freed), "what was freed behind a running kernel, the next one %s has", where);
	CK(cuMemFreeAsync(p, stream));
}

static void reused(void)
{
	CUdeviceptr p;
	struct busy b;
	CUevent event;

	CK(cuEventCreate(&event, 0));
	hold(&b, CU_STREAM_NON_BLOCKING);
	p = taken(b.pool, SMALL, b.stream);
	CK(cuMemFreeAsync(p, b.stream));
	is_reused(&b, p, b.second, "in another stream");
	is_reused(&b, p, b.stream, "in that stream");
	CK(cuEventRecord(event, b.stream));
	CK(cuStreamWaitEvent(b.third, event, 0));
	is_reused(&b, p, b.third, "in a stream that waits for an event behind it");
	release(&b);
	CK(cuEventDestroy(event));
}

/* Without waiting for the kernel, which may still use it. */
static void given_back(void)
{
	CUdeviceptr p;
	struct busy b;

	hold(&b, CU_STREAM_NON_BLOCKING);
	p = taken(b.pool, SMALL, b.stream);
	CK(cuMemFree(p));
	is_reused(&b, p, b.second, "in another stream, after cuMemFree,");
	CK(cuMemPoolTrimTo(b.pool, 0));
	release(&b);
	hold(&b, CU_STREAM_NON_BLOCKING);
	CK(cuMemFree(taken(b.pool, SMALL, b.stream)));
	CK(cuMemPoolTrimTo(b.pool, 0));
	fact(number((long long)asked(b.pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)),
	     "beside a running kernel, after cuMemFree and a trim, a pool has");
	release(&b);
}

enum order { NOTHING, ALLOCATION, FREE, FILL };

/* Is work in an empty blocking stream held up by another blocking one, through the null stream? */
static void joins(enum order what, const char *name)
{
	CUdeviceptr p;
	struct busy b;

	hold(&b, CU_STREAM_DEFAULT);
	p = taken(b.pool, SMALL, b.third);
	if (what == ALLOCATION)
		CK(cuMemFreeAsync(taken(b.pool, SMALL, NULL), b.third));
	if (what == FREE)
		CK(cuMemFreeAsync(taken(b.pool, SMALL, b.third), NULL));
	if (what == FILL)
		CK(cuMemsetD8Async(p, 0, SMALL, NULL));
	tk_spin(b.second, 0);
	tk_sleep_ms(20);
	fact(yes_no(cuStreamQuery(b.second) != CUDA_SUCCESS), "in the null stream, %s joins two blocking streams",
	     name);
	CK(cuMemFreeAsync(p, b.third));
	release(&b);
}

/*
 * In a process of its own, which ends at once: in the next calls for a pool driver 580 was seen to end two processes of
 * ten by signal 8 or 11, and under GMOD eight of ten.
 */
void child_pool_destroyed(void)
{
	CUmemoryPool pool = pool_new(UINT64_MAX), standard, current;
	CUdeviceptr p = taken(pool, SMALL, NULL);
	unsigned char byte = 0;

	CK(cuDeviceGetDefaultMemPool(&standard, tk_device));
	fact(code(cuMemPoolDestroy(standard)), "cuMemPoolDestroy of the default pool");
	CK(cuDeviceSetMemPool(tk_device, pool));
	CK(cuMemPoolDestroy(pool));
	CK(cuDeviceGetMemPool(&current, tk_device));
	fact(yes_no(current == standard), "the default pool follows the current one that was destroyed");
	CK(cuMemsetD8(p, 5, SMALL));
	CK(cuMemcpyDtoH(&byte, p, 1));
	fact(number(byte), "a byte of memory of a pool that was destroyed is");
	fact(code(cuMemFreeAsync(p, NULL)), "cuMemFreeAsync of such memory");
	fact(code(cuCtxSynchronize()), "after it, cuCtxSynchronize");
	_exit(0);
}

static CUmemoryPool exportable_pool(void)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
				.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = tk_device}};
	CUmemoryPool pool;

	CK(cuMemPoolCreate(&pool, &props));
	return pool;
}

/* In a process of its own, which a driver was seen to hang in, or to end by signal 11. */
void child_pool_exported(void)
{
	CUmemoryPool pool = pool_new(0);
	int fd = -1;

	fact(code(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)),
	     "exporting a pool that was not made for it");
	CK(cuMemPoolDestroy(pool));
	pool = exportable_pool();
	fact(code(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)),
	     "exporting one that was");
	close(fd);
	CK(cuMemPoolDestroy(pool));
}

/* Beside a device that is half full; an allocation that fails leaves nothing. */
static void exhausted(void)
{
	CUmemoryPool pool = pool_new(0);
	size_t left, total;
	CUdeviceptr p, q;

	CK(cuMemGetInfo(&left, &total));
	p = taken(pool, left / 2, NULL);
	fact(code(cuMemAllocFromPoolAsync(&q, total - left / 2, pool, NULL)), "from a pool, more than there is");
	CK(cuMemFreeAsync(p, NULL));
	fact(number((long long)asked(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)),
	     "after it and a free, of the pool is used");
	CK(cuMemPoolDestroy(pool));
}

/* A kernel stores to what a pool has given back. */
void child_access_trimmed(void)
{
	CUmemoryPool pool = pool_new(UINT64_MAX);
	CUdeviceptr p = taken(pool, SOME, NULL);
	int value = 1;

	CK(cuMemFreeAsync(p, NULL));
	tk_sync();
	CK(cuMemPoolTrimTo(pool, 0));
	tk_launch(tk_kernel("k_illegal"), 1, 1, NULL, TK_ARGS(&p, &value));
	fact(code(cuCtxSynchronize()), "a kernel stores to pool memory that was trimmed");
}

/*
 * A fill that is queued meanwhile runs into it. The pool is one that is left alone: the fault is the program's own. On
 * a machine that is busy the trim comes late.
 */
void child_fill_trimmed(void)
{
	CUmemoryPool pool = exportable_pool();
	CUstream stream = tk_stream();
	CUdeviceptr p = taken(pool, SOME, stream);

	tk_spin(stream, 500);
	CK(cuMemsetD32Async(p, 7, 16, stream));
	CK(cuMemFree(p));
	CK(cuMemPoolTrimTo(pool, 0));
	fact(code(cuCtxSynchronize()), "a queued fill of pool memory that cuMemFree and a trim gave back");
}

void pool_facts(void)
{
	spacing_of_pool();
	counted();
	kept();
	reused();
	given_back();
	joins(NOTHING, "nothing");
	joins(ALLOCATION, "cuMemAllocFromPoolAsync");
	joins(FREE, "cuMemFreeAsync");
	joins(FILL, "a fill");
	exhausted();
}
