// devices: 2
/*
 * Two threads end a context at the same time, by resets and by detaching, and each goes on at once in one of another
 * device, whose entry may take the place of the one that is gone.
 */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "testkit.h"

#include <stdbool.h>

enum { ROUNDS = 600, BUFFERS = 8, MOST_MS = 10000 };

static pthread_barrier_t step;
static CUcontext shared;
static bool late; /* real devices make fewer than 30 contexts a second */

/* Not current: whether a context that ends leaves the stack depends on who ends it. */
static CUcontext make(CUdevice device)
{
	CUcontext c, popped;

	CK(tk_create_context(&c, device));
	CK(cuCtxPopCurrent(&popped));
	return c;
}

static void fill(CUdeviceptr *p, int count)
{
	for (int i = 0; i < count; i++)
		CK(cuMemAlloc(&p[i], 1000));
}

/* The first thread holds it once, the second too where they detach. */
static void enter(int me, bool detach)
{
	CUdeviceptr p[30];
	CUcontext same;

	if (me == 0) {
		if (detach)
			shared = make(0);
		else
			CK(cuDevicePrimaryCtxRetain(&shared, 0));
		CK(cuCtxSetCurrent(shared));
		fill(p, 30);
	}
	pthread_barrier_wait(&step);
	CK(cuCtxSetCurrent(shared));
	if (me == 1 && detach)
		CK(cuCtxAttach(&same, 0));
	pthread_barrier_wait(&step);
}

static void *work(void *number)
{
	int me = (int)(uintptr_t)number;
	uint64_t seed = 1 + me;
	CUdeviceptr p[BUFFERS];
	CUcontext own;
	double began = tk_ms();
	bool detach;

	for (int round = 0; round < ROUNDS && !late; round++) {
		detach = round % 2;
		own = make(1);
		enter(me, detach);
		for (volatile uint64_t spins = tk_random(&seed) % 2 * (tk_random(&seed) % 20000); spins; spins--)
			;
		CK(detach ? cuCtxDetach(shared) : cuDevicePrimaryCtxReset(0));
		CK(cuCtxSetCurrent(own));
		fill(p, BUFFERS);
		usleep(tk_random(&seed) % 500);
		for (int i = 0; i < BUFFERS; i++)
			CK(cuMemFree(p[i]));
		if (me == 0)
			late = tk_ms() - began > MOST_MS;
		pthread_barrier_wait(&step);
		CK(cuCtxDestroy(own));
		if (me == 0 && !detach)
			CK(cuDevicePrimaryCtxRelease(0));
	}
	return NULL;
}

int main(void)
{
	if (tk_init() < 2)
		tk_skip("one device only");
	REQUIRE(pthread_barrier_init(&step, NULL, 2) == 0);
	tk_in_threads(2, work);
	puts("done");
}
