// expect: heap-buffer-overflow size 6000 offset +0 in make_portable
// suspect: k_wait_flip
/*
 * A kernel in a second context, which nothing is allocated in, on its default stream. A wait for the first context says
 * nothing about it: it is still a suspect when it overruns memory that both can use.
 */
#include "make_buffer.h"

EXPORTED char *make_portable(size_t size)
{
	void *p;

	CK(cuMemHostAlloc(&p, size, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
	return p;
}

int main(void)
{
	long long off = 6000, count = 8;
	volatile int *flag;
	CUcontext second;
	char *p;

	tk_start();
	p = make_portable(6000);
	flag = (volatile int *)(void *)make_portable(sizeof(int));
	*flag = 0;
	second = tk_new_context();
	tk_launch(tk_kernel("k_wait_flip"), 1, 32, NULL, TK_ARGS(&p, &off, &count, &flag));
	CK(cuCtxSetCurrent(tk_context));
	tk_sync();
	/* The canaries are seen intact after that wait. */
	tk_sleep_ms(50);
	*flag = 1;
	CK(cuCtxSetCurrent(second));
	tk_sync();
	return 0;
}
