/*
 * 16 threads allocate and free N buffers in stream order, in streams of their own and in shared ones, and their kernels
 * write within them:
 *
 *	ordered N [plant]
 *
 * Meanwhile the pool has so much in use as they have, and nothing in the end. plant: then as many live as can be
 *guarded at once, and a kernel writes past the end of the last one.
 */
#include "pool/pooled.h"

enum { THREADS = 16, SHARED = 4, AT_ONCE = 8192 };

extern int gmod_check(void) __attribute__((weak));

static long pairs; /* of a thread */
static CUstream shared[SHARED];

struct worker {
	uint64_t seed;
	CUstream own, other;
	CUevent event;
};

static void come_behind(const struct worker *w, CUstream first, CUstream second)
{
	CK(cuEventRecord(w->event, first));
	CK(cuStreamWaitEvent(second, w->event, 0));
}

/* Nobody else writes there. */
static void keep(CUdeviceptr p, size_t size, CUstream stream, unsigned char value)
{
	static _Thread_local unsigned char bytes[4096];

	CK(cuMemsetD8Async(p, value, size, stream));
	CK(cuMemcpyDtoHAsync(bytes, p, size, stream));
	CK(cuStreamSynchronize(stream));
	for (size_t i = 0; i < size; i++)
		REQUIRE(bytes[i] == value);
}

static void use(struct worker *w, CUdeviceptr p, size_t size, CUstream stream)
{
	switch (tk_random(&w->seed) % 10) {
	case 0:
		CK(cuMemFree(p));
		return;
	case 1:
		flip_end(p, size, stream, 0);
		CK(cuStreamSynchronize(stream));
		CK(cuMemFree(p));
		return;
	case 2:
		flip_end(p, size, stream, 0);
		come_behind(w, stream, w->other);
		CK(cuMemFreeAsync(p, w->other));
		return;
	case 3:
		come_behind(w, stream, w->other);
		flip_end(p, size, w->other, 0);
		CK(cuMemFreeAsync(p, w->other));
		return;
	case 4:
		keep(p, size, stream, (unsigned char)size);
		break;
	case 5:
		break;
	default:
		flip_end(p, size, stream, 0);
	}
	CK(cuMemFreeAsync(p, stream));
}

static void pair(struct worker *w, long i)
{
	CUstream stream = tk_random(&w->seed) % 4 ? w->own : shared[tk_random(&w->seed) % SHARED];
	size_t size = 1 + tk_random(&w->seed) % 4000;

	use(w, make_pooled(size, stream), size, stream);
	/* No queue grows without an end. */
	if (i % 32 == 0) {
		CK(cuStreamSynchronize(w->own));
		CK(cuStreamSynchronize(w->other));
		CK(cuStreamSynchronize(stream));
	}
}

static void *churn(void *number)
{
	struct worker w = {.seed = (uint64_t)(uintptr_t)number + 1};

	CK(cuCtxSetCurrent(tk_context));
	w.own = tk_stream();
	w.other = tk_stream();
	CK(cuEventCreate(&w.event, CU_EVENT_DISABLE_TIMING));
	for (long i = 0; i < pairs; i++)
		pair(&w, i);
	CK(cuStreamSynchronize(w.own));
	CK(cuStreamSynchronize(w.other));
	CK(cuStreamDestroy(w.own));
	CK(cuStreamDestroy(w.other));
	CK(cuEventDestroy(w.event));
	return NULL;
}

static volatile int watching = 1;

static void *come_and_go(void *unused)
{
	CUstream stream = shared[0];

	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	for (long i = 0; i < pairs; i++)
		use_once(SIZE, stream, 0);
	CK(cuStreamSynchronize(stream));
	watching = 0;
	return NULL;
}

static void watch(void)
{
	pthread_t thread = tk_begin_thread(come_and_go, NULL);

	while (watching) {
		cuuint64_t used = pool_says(default_pool(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT);

		/* Of one that is being made or freed, what GMOD adds may be in it. */
		REQUIRE(used <= 2 * 1024);
	}
	tk_end_thread(thread);
}

static void plant(void)
{
	CUdeviceptr p;

	if (gmod_check)
		gmod_check();
	for (int i = 0; i < AT_ONCE; i++) {
		p = make_pooled(SIZE, shared[0]);
		flip_end(p, SIZE, shared[0], i == AT_ONCE - 1);
	}
	CK(cuMemFreeAsync(p, shared[0]));
	tk_sync();
}

/* What cuMemFree could not free at once, GMOD's monitor does. Driver 580 calls it used for ever, but not reserved. */
static void is_empty(void)
{
	int naps = 0;

	do {
		tk_sleep_ms(naps ? 10 : 0);
		CK(cuMemPoolTrimTo(default_pool(), 0));
	} while (pool_says(default_pool(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) && naps++ < 500);
	REQUIRE(naps <= 500);
}

int main(int argc, char **argv)
{
	pairs = (argc > 1 ? atol(argv[1]) : 16000) / THREADS;
	for (int i = 0; i < SHARED; i++)
		shared[i] = tk_stream();
	watch();
	tk_in_threads(THREADS, churn);
	tk_sync();
	is_empty();
	if (argc > 2)
		plant();
	puts("done");
}
