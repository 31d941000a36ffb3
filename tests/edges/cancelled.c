/*
 * Threads that free overrun buffers are cancelled over it, where the driver waits. Says how many buffers were overrun,
 * and when, in ms, it leaves.
 */
#include "make_buffer.h"

enum { ROUNDS = 20 };

static void *free_it(void *buffer)
{
	const CUdeviceptr *p = buffer;

	CK(cuCtxSetCurrent(tk_context));
	pthread_cancel(pthread_self());
	cuMemFree(*p);
	for (;;)
		pause();
	return NULL;
}

static void overrun(void)
{
	CUdeviceptr p = make_buffer(4000);
	pthread_t thread;
	void *how;

	tk_flip(p, 4000, 1);
	tk_sync();
	tk_spin(NULL, 5);
	thread = tk_begin_thread(free_it, &p);
	REQUIRE(!pthread_join(thread, &how));
	REQUIRE(how == PTHREAD_CANCELED);
}

int main(void)
{
	struct timespec t;

	tk_start();
	for (int i = 0; i < ROUNDS; i++)
		overrun();
	clock_gettime(CLOCK_REALTIME, &t);
	printf("%d overruns\nleaving at %lld\n", ROUNDS, t.tv_sec * 1000LL + t.tv_nsec / 1000000);
}
