/* Four threads, each on its per-thread default stream: the _ptsz and _ptds siblings. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "process.h"

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
	tk_start();
	tk_kernel("k_flip");
	tk_in_threads(4, work);
	puts("done");
}
