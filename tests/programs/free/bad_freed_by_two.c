// expect: double-free size 1000
// sim-env: SIM_STALL=cuMemFree_v2:1:80
/*
 * Two threads free the same buffer, the second while the first one's free has yet to reach the driver. One is a double
 * free, and the next buffer there is nobody's fault.
 */
#include "make_buffer.h"

static CUdeviceptr p;

static void *free_it(void *unused)
{
	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	cuMemFree(p);
	return NULL;
}

int main(void)
{
	CUdeviceptr next;
	pthread_t first;

	p = make_buffer(1000);
	first = tk_begin_thread(free_it, NULL);
	tk_sleep_ms(20);
	cuMemFree(p);
	tk_end_thread(first);
	next = make_buffer(1000);
	tk_flip(next, 999, 1);
	CK(cuMemFree(next));
}
