// case: good_pool_freed_told_beside beside
// case: good_pool_freed_told_thread of_thread
// options: max_overhead=100
/*
 * Buffers of 8 MiB, one after another, are used in a default stream and freed by cuMemFree. That the work is done is
 * known without a wait for that stream: a copy in another stream comes behind it, or a host function tells. Each
 * buffer's memory is the next one's.
 */
#include "pooled.h"
#include <semaphore.h>

enum { BYTES = 8 << 20, COUNT = 64 };

static CUmemoryPool pool;

static TK_UNUSED void beside(void)
{
	CUstream stream;
	char *host = tk_pinned(4096);

	CK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
	for (int i = 0; i < COUNT; i++) {
		CUdeviceptr p = make_from(pool, BYTES, CU_STREAM_LEGACY);

		tk_flip_on(CU_STREAM_LEGACY, p, 0, 100);
		CK(cuMemcpyDtoHAsync(host, p, 100, stream));
		CK(cuStreamSynchronize(stream));
		CK(cuMemFree(p));
	}
}

static CUdeviceptr made;
static sem_t done, wanted;

static void CUDA_CB tell(void *semaphore)
{
	sem_post(semaphore);
}

static void *make_some(void *unused)
{
	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < COUNT; i++) {
		while (sem_wait(&wanted))
			;
		made = make_from(pool, BYTES, CU_STREAM_PER_THREAD);
		tk_flip_on(CU_STREAM_PER_THREAD, made, 0, 100);
		CK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, tell, &done));
	}
	return NULL;
}

static TK_UNUSED void of_thread(void)
{
	pthread_t thread;

	sem_init(&done, 0, 0);
	sem_init(&wanted, 0, 0);
	thread = tk_begin_thread(make_some, NULL);
	for (int i = 0; i < COUNT; i++) {
		sem_post(&wanted);
		while (sem_wait(&done))
			;
		CK(cuMemFree(made));
	}
	tk_end_thread(thread);
}

int main(void)
{
	tk_start();
	tk_kernel("k_flip");
	pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
	CASE();
	REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) < (size_t)BYTES * COUNT / 2);
	puts("done");
}
