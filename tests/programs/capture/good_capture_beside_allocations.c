/* One thread captures, thread-local and relaxed, while others allocate, launch and free. */
#include "testkit.h"
#include <stdatomic.h>

#define THREADS 3

static atomic_int finished;

static void *allocate(void *unused TK_UNUSED)
{
	CUstream stream;
	CUdeviceptr p;

	CK(cuCtxSetCurrent(tk_context));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 40; i++) {
		CK(cuMemAlloc(&p, 1000 + i));
		tk_flip_on(stream, p, 0, 1000 + i);
		CK(cuMemFree(p));
	}
	atomic_fetch_add(&finished, 1);
	return NULL;
}

static void capture(CUstream stream, CUdeviceptr p, CUstreamCaptureMode mode)
{
	CUgraph graph;

	CK(cuStreamBeginCapture(stream, mode));
	tk_flip_on(stream, p, 0, 4000);
	tk_sleep_ms(2);
	tk_flip_on(stream, p, 0, 4000);
	CK(cuStreamEndCapture(stream, &graph));
	tk_run_graph(graph, stream, 1);
}

int main(void)
{
	pthread_t thread[THREADS];
	int captures = 0;
	CUdeviceptr p = tk_alloc(4000);
	CUstream stream = tk_stream();

	tk_kernel("k_flip");
	for (int i = 0; i < THREADS; i++)
		thread[i] = tk_begin_thread(allocate, NULL);
	while (atomic_load(&finished) < THREADS || captures < 4)
		capture(stream, p,
			captures++ % 2 ? CU_STREAM_CAPTURE_MODE_RELAXED : CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	for (int i = 0; i < THREADS; i++)
		tk_end_thread(thread[i]);
	CK(cuMemFree(p));
	puts("captured");
}
