// expect: heap-buffer-overflow size 6000 offset +0 in make_portable
// suspect: k_wait_flip
// preload-last: plugin_interop.so
/*
 * A second context that is made behind GMOD's back, by a thread that only waits for it: nothing is loaded, allocated or
 * launched there. The wait says nothing about the first context's kernel: it is still a suspect when it overruns a
 * buffer.
 */
#include "make_buffer.h"

#include <dlfcn.h>

static pthread_barrier_t step;

static void *waiter(void *unused)
{
	CUresult (*make)(CUcontext *, CUdevice);
	CUcontext c;

	*(void **)&make = dlsym(RTLD_DEFAULT, "make_interop_context");
	REQUIRE(make);
	CK(make(&c, tk_device));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	tk_sync();
	pthread_barrier_wait(&step);
	return unused;
}

int main(void)
{
	long long off = 6000, count = 8;
	pthread_t thread;
	char *p = make_portable(6000);
	volatile int *flag = (volatile int *)(void *)make_portable(sizeof(int));

	*flag = 0;
	REQUIRE(pthread_barrier_init(&step, NULL, 2) == 0);
	thread = tk_begin_thread(waiter, NULL);
	pthread_barrier_wait(&step);
	tk_launch(tk_kernel("k_wait_flip"), 1, 32, NULL, TK_ARGS(&p, &off, &count, &flag));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	/* The canaries are seen intact after that wait. */
	tk_sleep_ms(50);
	*flag = 1;
	tk_sync();
	tk_end_thread(thread);
}
