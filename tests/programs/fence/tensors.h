/*
 * The same for memory in stream order. What only GMOD does, such as which block a buffer has, is required where BUG is
 * set: bad programs run under GMOD alone.
 */
#pragma once

#include "../pool/pooled.h"
#include "fencing.h"

/* Of two buffers that fit into one: has the later one the block of the earlier one? */
static int is_again(CUdeviceptr p, CUdeviceptr q)
{
	return p >> 21 == q >> 21;
}

static TK_UNUSED void let_go(volatile int *flag)
{
	*flag = 1;
}

/* ---- accesses ---- */

static TK_UNUSED void tensor_past(const char *kernel, size_t size, long long off)
{
	CUstream s = tk_stream();

	touch(kernel, make_pooled(size, s) + size + (CUdeviceptr)off, s);
	ask();
}

static TK_UNUSED void tensor_before(const char *kernel, long long off)
{
	CUstream s = tk_stream();

	touch(kernel, make_pooled(SMALL, s) + (CUdeviceptr)off, s);
	ask();
}

static TK_UNUSED void tensor_of_a_pool(void)
{
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
	CUstream s = tk_stream();
	CUdeviceptr p = make_from(pool, SMALL, s);

	CK(cuMemFreeAsync(p, s));
	p = make_from(pool, SMALL, s);
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), s);
	ask();
}

static TK_UNUSED void tensor_of_no_stream(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_pooled(SMALL, NULL);
	CK(cuMemFreeAsync(make_pooled(CHUNK, CU_STREAM_PER_THREAD), CU_STREAM_PER_THREAD));
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), NULL);
	ask();
}

/* As frameworks do: freed by the host while the kernel is still to run. */
static TK_UNUSED void tensor_freed_behind(void)
{
	CUstream s = tk_stream();
	volatile int *flag = hold(s);
	CUdeviceptr p = make_pooled(SMALL, s);

	touch("fault_read", p + SMALL - (BUG ? 0 : 4), s);
	CK(cuMemFreeAsync(p, s));
	let_go(flag);
	ask();
}

/* Of a warp the last lanes go beyond; where the others read is nobody's by then. */
static TK_UNUSED void tensor_freed_behind_warp(void)
{
	enum { WIDTH = 256, COUNT = 16 * WIDTH, SIZE = (COUNT + 2 * WIDTH) * 4 };
	CUstream s = tk_stream();
	CUdeviceptr out = tk_alloc(COUNT * 4), p, start;
	long long width = WIDTH, count = COUNT;
	volatile int *flag = hold(s);

	p = make_pooled(SIZE, s);
	start = p + WIDTH * 4 + (BUG ? 16 : 0);
	tk_launch_n(tk_kernel("k_stencil"), count, s, TK_ARGS(&out, &start, &width, &count));
	CK(cuMemFreeAsync(p, s));
	let_go(flag);
	ask();
}

/* Its block has another buffer, of another size, when the kernel runs. */
static TK_UNUSED void tensor_taken_over(void)
{
	CUstream s = tk_stream();
	volatile int *flag = hold(s);
	CUdeviceptr p = make_pooled(SMALL, s), q;

	touch("fault_read", p + SMALL - (BUG ? 0 : 4), s);
	CK(cuMemFreeAsync(p, s));
	q = make_pooled(CHUNK, s);
	REQUIRE(!BUG || is_again(p, q));
	let_go(flag);
	ask();
}

/* A buffer that lives ends where one ended that is freed: the one whose address the kernel was given is named. */
static TK_UNUSED void given_and_taken_over(void)
{
	CUstream s = tk_stream();
	CUdeviceptr out = make_pooled(CHUNK, s), p = make_pooled(1 << 20, s);
	volatile int *flag = hold(s);
	long long at = (1 << 20) - (BUG ? 0 : 16);

	tk_launch(tk_kernel("k_read_wide"), 1, 1, s, TK_ARGS(&p, &at, &out));
	CK(cuMemFreeAsync(p, s));
	REQUIRE(is_again(make_pooled(SMALL, s), p) || !BUG);
	let_go(flag);
	ask();
}

/* ---- whose block it is next ---- */

static TK_UNUSED void same_stream(void)
{
	CUstream s = tk_stream();
	volatile int *flag = hold(s);
	CUdeviceptr p = make_pooled(SMALL, s), q;

	flip_end(p, SMALL, s, 0);
	CK(cuMemFreeAsync(p, s));
	q = make_pooled(CHUNK - 8, s);
	REQUIRE(!BUG || is_again(p, q));
	let_go(flag);
	ask();
}

/* Allocated in one stream, freed in another that waits for it. A third one has the block once that is known. */
static TK_UNUSED void other_stream(void)
{
	CUstream s[3] = {tk_stream(), tk_stream(), tk_stream()};
	volatile int *flag;
	CUdeviceptr p = make_pooled(SMALL, s[0]), q;

	tk_kernel("k_wait_flip");
	tk_sync();
	flag = hold(s[0]);
	flip_end(p, SMALL, s[0], 0);
	order(s[0], s[1]);
	CK(cuMemFreeAsync(p, s[1]));
	for (int i = 0; i < 3; i += 2) {
		q = make_pooled(SMALL, s[i]);
		REQUIRE(!BUG || !is_again(p, q));
	}
	let_go(flag);
	CK(cuStreamSynchronize(s[0]));
	q = make_pooled(SMALL, s[2]);
	REQUIRE(!BUG || !is_again(p, q));
	CK(cuStreamSynchronize(s[1]));
	q = make_pooled(SMALL, s[2]);
	REQUIRE(!BUG || is_again(p, q));
	ask();
}

/* Of fills and copies no launch tells that they are under way. */
static TK_UNUSED void filled(void)
{
	CUstream s = tk_stream(), other = tk_stream();
	CUdeviceptr p = make_pooled(64 << 20, s);

	tk_sync();
	CK(cuMemsetD8Async(p, 1, 64 << 20, s));
	CK(cuMemFreeAsync(p, s));
	REQUIRE(!BUG || make_pooled(64 << 20, other) != p);
	ask();
}

static TK_UNUSED void freeing_stream(void)
{
	CUstream s = tk_stream(), other = tk_stream();
	CUdeviceptr p = make_pooled(SMALL, s), q;

	tk_kernel("k_flip");
	tk_sync();
	flip_end(p, SMALL, s, 0);
	order(s, other);
	CK(cuMemFreeAsync(p, other));
	q = make_pooled(SMALL, other);
	REQUIRE(!BUG || is_again(p, q));
	ask();
}

/* A stream that comes later may have the handle of one that is gone: not for that is it known that its kernel is done.
 */
static TK_UNUSED void ended_stream(void)
{
	CUstream s, later = NULL;
	volatile int *flag;
	CUdeviceptr p;

	tk_start();
	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	p = make_pooled(SMALL, s);
	flag = hold(s);
	flip_end(p, SMALL, s, 0);
	CK(cuMemFreeAsync(p, s));
	CK(cuStreamDestroy(s));
	let_go(flag);
	for (int i = 0; i < 200 && later != s; i++) {
		usleep(1000);
		CK(cuStreamCreate(&later, CU_STREAM_NON_BLOCKING));
	}
	REQUIRE(!is_again(p, make_pooled(SMALL, later)) || !BUG);
	tk_sync();
	REQUIRE(!BUG || is_again(p, make_pooled(SMALL, later)));
	if (BUG)
		printf("the handle is there again: %d\n", later == s);
	ask();
}

static CUdeviceptr of_thread;
static volatile int *thread_flag;

static void *leave_one(void *unused)
{
	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	of_thread = make_pooled(SMALL, CU_STREAM_PER_THREAD);
	thread_flag = hold(CU_STREAM_PER_THREAD);
	flip_end(of_thread, SMALL, CU_STREAM_PER_THREAD, 0);
	CK(cuMemFreeAsync(of_thread, CU_STREAM_PER_THREAD));
	return NULL;
}

static void *take_another(void *unused)
{
	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	REQUIRE(!is_again(of_thread, make_pooled(SMALL, CU_STREAM_PER_THREAD)) || !BUG);
	return NULL;
}

/* Of two threads, one after the other, each with a stream of its own. Natively, on a GPU, the second one may get the
 * block of the first, behind the kernel that waits: the thread would not end. */
static TK_UNUSED void threads_own(void)
{
	tk_start();
	tk_kernel("k_wait_flip");
	tk_in_a_thread(leave_one, NULL);
	tk_in_a_thread(take_another, NULL);
	let_go(thread_flag);
	tk_sync();
	REQUIRE(!BUG || is_again(of_thread, make_pooled(SMALL, NULL)));
	ask();
}

/* cuMemFree does not wait, and names no stream. */
static TK_UNUSED void freed_plainly(void)
{
	CUstream s = tk_stream();
	CUdeviceptr p = make_pooled(SMALL, s);
	volatile int *flag = hold(s);

	flip_end(p, SMALL, s, 0);
	if (!BUG) {
		let_go(flag);
		CK(cuStreamSynchronize(s));
	}
	CK(cuMemFree(p));
	REQUIRE(!BUG || !is_again(p, make_pooled(SMALL, s)));
	let_go(flag);
	CK(cuStreamSynchronize(s));
	REQUIRE(!BUG || is_again(p, make_pooled(SMALL, tk_stream())));
	ask();
}

/* Held up, that stream fills the buffer. */
static TK_UNUSED volatile int *fill_late(CUdeviceptr p, CUstream s)
{
	volatile int *flag = hold(s);

	CK(cuMemsetD8Async(p, 1, SMALL, s));
	return flag;
}

/* A second stream fills the next buffer, and no other fill comes behind that. */
static TK_UNUSED void fill_next(CUdeviceptr q, CUstream s, volatile int *flag)
{
	unsigned char byte = 0;

	CK(cuMemsetD8Async(q, 2, SMALL, s));
	usleep(20000);
	let_go(flag);
	tk_sync();
	CK(cuMemcpyDtoH(&byte, q, 1));
	REQUIRE(byte == 2);
}

/* A free in the legacy stream joins the blocking ones, those before it and those behind. */
static TK_UNUSED void freed_in_legacy(void)
{
	CUstream s[2];
	CUdeviceptr p = make_pooled(SMALL, NULL);
	volatile int *flag;

	tk_kernel("k_wait_flip");
	CK(cuStreamCreate(&s[0], CU_STREAM_DEFAULT));
	CK(cuStreamCreate(&s[1], CU_STREAM_DEFAULT));
	tk_sync();
	flag = fill_late(p, s[0]);
	CK(cuMemFreeAsync(p, NULL));
	fill_next(make_pooled(SMALL, NULL), s[1], flag);
	ask();
}

static volatile int *late_flag;

static void *let_go_late(void *unused)
{
	(void)unused;
	usleep(20000);
	let_go(late_flag);
	return NULL;
}

/* A free in a blocking stream comes behind what the legacy one has, and who waits for that stream waits for both. */
static TK_UNUSED void freed_behind_legacy(void)
{
	CUdeviceptr p = make_pooled(SMALL, NULL), q;
	CUstream blocking, other = tk_stream();
	pthread_t thread;

	tk_kernel("k_wait_flip");
	CK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	tk_sync();
	late_flag = fill_late(p, NULL);
	CK(cuMemFreeAsync(p, blocking));
	thread = tk_begin_thread(let_go_late, NULL);
	CK(cuStreamSynchronize(blocking));
	q = make_pooled(SMALL, other);
	fill_next(q, other, late_flag);
	tk_end_thread(thread);
	ask();
}

/* What a pool keeps behind a wait is as the program has set it last. */
static TK_UNUSED void pool_keeps(void)
{
	CUmemoryPool pools[] = {default_pool(), new_pool(CU_MEM_HANDLE_TYPE_NONE)};
	cuuint64_t keep[] = {UINT64_MAX, 0};
	CUstream s = tk_stream();

	for (int i = 0; i < 4; i++) {
		CUmemoryPool pool = pools[i / 2];

		CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep[i % 2]));
		CK(cuMemFreeAsync(make_from(pool, CHUNK, s), s));
		CK(cuStreamSynchronize(s));
		printf("kept: %d\n", pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > 0);
	}
	ask();
}

static TK_UNUSED void freed_twice(void)
{
	CUstream s = tk_stream();
	CUdeviceptr p = make_pooled(SMALL, s);

	CK(cuMemFreeAsync(p, s));
	if (BUG)
		EXPECT(cuMemFreeAsync(p, s), CUDA_ERROR_INVALID_VALUE);
	ask();
}
