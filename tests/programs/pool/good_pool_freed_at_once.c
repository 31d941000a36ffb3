// case: good_pool_freed_at_once 0
// case: bad_pool_freed_at_once 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/*
 * Behind a kernel that runs, a buffer is allocated and freed by cuMemFree, which does not wait; no kernel has used it,
 * and trimming gives its memory back at once. Whatever were queued to touch it now would fault.
 */
#include "pooled.h"

static CUmemoryPool pool;

static void freed_at_once(CUstream stream, int launched)
{
	volatile int *flag = hold(stream);
	CUdeviceptr p;

	p = make_pooled(SIZE, stream);
	if (launched)
		tk_spin(stream, 0);
	CK(cuMemFree(p));
	CK(cuMemPoolTrimTo(pool, 0));
	*flag = 1;
	tk_spin(stream, 0);
	CK(cuStreamSynchronize(stream));
}

int main(void)
{
	CUstream stream = tk_stream();

	pool = default_pool();
	for (int i = 0; i < 5; i++) {
		freed_at_once(stream, i % 2);
		use_once(SIZE, stream, i == 3 ? CASE : 0);
		CK(cuStreamSynchronize(stream));
	}
	puts("done");
}
