// case: good_pool_per_thread 0
// case: bad_pool_per_thread 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* Threads allocate and free in their per-thread default streams, by the calls that are made for those. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "pooled.h"

static void *work(void *number)
{
	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < 20; i++)
		use_once(SIZE, NULL, number == (void *)2 && i == 10 ? CASE : 0);
	CK(cuStreamSynchronize(NULL));
	return NULL;
}

int main(void)
{
	tk_start();
	tk_kernel("k_flip");
	/* What looks take is made at the first of them; who allocates meanwhile goes without. */
	use_once(SIZE, NULL, 0);
	tk_in_threads(4, work);
	puts("done");
}
