/*
 * Threads that come and go: each launches on the default stream of its own and on one that it makes, records an event
 * there, waits for it and destroys both. When all are done one kernel overruns a buffer; then the program does nothing,
 * until the monitor has hardly woken for two seconds or LATEST_MS are over, and says how often it woke in the latest
 * two.
 *
 *   come_and_go THREADS
 */
#include "make_buffer.h"
#include "proc.h"
#include <pthread.h>
#include <stdatomic.h>

enum { AT_ONCE = 16, BYTES = 4096, IDLE_MS = 2000, FEW = 4, LATEST_MS = 20000 };

static CUdeviceptr buffer;
static CUfunction fill;

static void launch_on(CUstream stream)
{
	long long zero = 0, n = 16;
	int value = 0;

	CK(cuLaunchKernel(fill, 1, 1, 1, 16, 1, 1, 0, stream, TK_ARGS(&buffer, &zero, &n, &value), NULL));
}

static void *come_and_go(void *unused)
{
	CUstream stream;
	CUevent event;

	CK(cuCtxSetCurrent(tk_context));
	launch_on(CU_STREAM_PER_THREAD);
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	launch_on(stream);
	CK(cuEventRecord(event, stream));
	CK(cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0));
	CK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	launch_on(stream);
	CK(cuEventRecord(event, stream));
	CK(cuEventSynchronize(event));
	CK(cuEventDestroy(event));
	CK(cuStreamDestroy(stream));
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 3000;
	pthread_t thread[AT_ONCE];
	long long before, woken = FEW + 1;

	buffer = make_buffer(BYTES);
	fill = tk_kernel("k_fill");
	for (int done = 0; done < threads; done += AT_ONCE) {
		for (int i = 0; i < AT_ONCE; i++)
			REQUIRE(pthread_create(&thread[i], NULL, come_and_go, NULL) == 0);
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(thread[i], NULL);
	}
	tk_sleep_ms(500); /* for what was proven to be seen */
	tk_flip(buffer, BYTES, 1);
	CK(cuStreamSynchronize(NULL));
	/* How soon the finding is told, and its patrol done, depends on what else the machine does. */
	for (int waited = 0; woken > FEW && waited < LATEST_MS; waited += IDLE_MS) {
		before = proc_monitor_number("status", "voluntary_ctxt_switches");
		tk_sleep_ms(IDLE_MS);
		woken = proc_monitor_number("status", "voluntary_ctxt_switches") - before;
	}
	printf("woken %lld\n", woken);
	return 0;
}
