/* Four threads, each on its per-thread default stream: the _ptsz and _ptds siblings. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "process.h"
#include <pthread.h>

static void *work(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	for (int i = 1; i < 20; i++)
		use_cuda(100 * i);
	CK(cuStreamSynchronize(NULL));
	return NULL;
}

int main(void)
{
	pthread_t thread[4];

	tk_start();
	tk_kernel("k_flip");
	for (int i = 0; i < 4; i++)
		REQUIRE(!pthread_create(&thread[i], NULL, work, NULL));
	for (int i = 0; i < 4; i++)
		REQUIRE(!pthread_join(thread[i], NULL));
	puts("done");
	return 0;
}
