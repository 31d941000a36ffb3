// case: good_pool_freed_unordered_legacy legacy
// case: good_pool_freed_unordered_thread of_thread
// case: good_pool_freed_unordered_ended ended
// options: max_overhead=100
// guarded: no
/*
 * Behind a kernel that runs, a buffer is allocated in the legacy stream, in a thread's own stream, or in one that ends,
 * and freed by cuMemFree, in another thread where that is another stream. No kernel has used it. Trimming gives its
 * memory back at once, and what GMOD has queued in front of the next kernel would fault.
 */
#include "pooled.h"

static CUdeviceptr p;

static void *free_it(void *unused)
{
	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	CK(cuMemFree(p));
	return NULL;
}

static TK_UNUSED CUstream legacy(void)
{
	return CU_STREAM_LEGACY;
}

static TK_UNUSED CUstream of_thread(void)
{
	return CU_STREAM_PER_THREAD;
}

static TK_UNUSED CUstream ended(void)
{
	return tk_stream();
}

int main(void)
{
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
	CUstream stream = CASE();
	volatile int *go_on = hold(stream);

	p = make_from(pool, SIZE, stream);
	tk_spin(stream, 0);
	if (stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD)
		CK(cuStreamDestroy(stream));
	tk_in_a_thread(free_it, NULL);
	CK(cuMemPoolTrimTo(pool, 0));
	*go_on = 1;
	tk_sync();
	/*
	 * By now it is known that nothing comes any more. Driver 580 counts what cuMemFree has freed as used for ever;
	 * that its pages are gone is true.
	 */
	tk_sleep_ms(100);
	CK(cuMemPoolTrimTo(pool, 0));
	REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
	CK(cuMemPoolDestroy(pool));
	puts("done");
}
