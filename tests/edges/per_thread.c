/*
 * Two threads on their per-thread default streams: what the one waits for must not hold up the other, as it would on
 * the one legacy default stream. Launch, copy, fill, event and wait, each by its _ptsz or _ptds sibling.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "make_buffer.h"

static CUdeviceptr blocked;
static volatile int *flag;
static pthread_barrier_t both;

static void *wait_for_flag(void *unused TK_UNUSED)
{
	long long zero = 0, one = 1;

	CK(cuCtxSetCurrent(tk_context));
	tk_launch(tk_kernel("k_wait_flip"), 1, 1, NULL, TK_ARGS(&blocked, &zero, &one, &flag));
	pthread_barrier_wait(&both);
	CK(cuStreamSynchronize(NULL));
	return NULL;
}

int main(void)
{
	unsigned char host[100];
	pthread_t thread;
	CUdeviceptr p;
	CUevent event;
	double began = tk_ms();

	tk_start();
	flag = tk_flag();
	blocked = make_buffer(100);
	p = make_buffer(100);
	/* Its code is loaded: that would wait for whatever runs. */
	tk_flip(p, 0, 100);
	tk_sync();
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	REQUIRE(!pthread_barrier_init(&both, NULL, 2));
	thread = tk_begin_thread(wait_for_flag, NULL);
	pthread_barrier_wait(&both);
	CK(cuMemsetD8Async(p, 1, 100, NULL));
	tk_flip(p, 0, 100);
	CK(cuMemcpyDtoHAsync(host, p, 100, NULL));
	CK(cuEventRecord(event, NULL));
	CK(cuStreamWaitEvent(NULL, event, 0));
	CK(cuEventSynchronize(event));
	CK(cuStreamSynchronize(NULL));
	CK(cuStreamQuery(NULL));
	CK(cuMemsetD8(p, 2, 100));
	CK(cuMemcpyDtoH(host, p, 100));
	printf("%d, held up: %s\n", host[99], tk_ms() - began > 5000 ? "yes" : "no");
	*flag = 1;
	tk_end_thread(thread);
}
