/*
 * Threads that free overrun buffers are cancelled over it: where the driver waits, or with an argument anywhere, as
 * asynchronous cancellation does. Says how many buffers were overrun, and when, in ms, it leaves.
 */
#include "make_buffer.h"
#include <pthread.h>
#include <stdbool.h>

static bool anywhere;
static _Atomic bool ready;

static void *free_it(void *buffer)
{
	const CUdeviceptr *p = buffer;

	CK(cuCtxSetCurrent(tk_context));
	if (anywhere)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	else
		pthread_cancel(pthread_self());
	ready = true;
	cuMemFree(*p);
	for (;;)
		pause();
	return NULL;
}

static void overrun(int turns)
{
	CUdeviceptr p = make_buffer(4000);
	pthread_t thread;
	void *how;

	tk_flip(p, 4000, 1);
	tk_sync();
	if (!anywhere)
		tk_spin(NULL, 5);
	ready = false;
	REQUIRE(!pthread_create(&thread, NULL, free_it, &p));
	while (!ready)
		;
	for (volatile int n = 0; n < turns; n++)
		;
	if (anywhere)
		REQUIRE(!pthread_cancel(thread));
	REQUIRE(!pthread_join(thread, &how));
	REQUIRE(how == PTHREAD_CANCELED);
}

int main(int argc, char **argv TK_UNUSED)
{
	struct timespec t;
	int rounds;

	tk_start();
	anywhere = argc > 1;
	rounds = anywhere ? 200 : 20;
	for (int i = 0; i < rounds; i++)
		overrun(anywhere ? i * 300 : 0);
	clock_gettime(CLOCK_REALTIME, &t);
	printf("%d overruns\nleaving at %lld\n", rounds, t.tv_sec * 1000LL + t.tv_nsec / 1000000);
	return 0;
}
