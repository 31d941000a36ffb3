/*
 * Threads that retain the primary context, use it and release it, time and again, each when it likes: whose release is
 * the last one only the driver knows, and what is left in the context goes with that.
 */
#include "testkit.h"

enum { THREADS = 3, ROUNDS = 1000, BUFFERS = 4, LEFT = 2 };

static double until;

static void *use(void *number)
{
	uint64_t seed = 1 + (uintptr_t)number;
	CUdeviceptr p[BUFFERS];
	CUcontext c;

	for (int i = 0; i < ROUNDS && tk_ms() < until; i++) {
		CK(cuDevicePrimaryCtxRetain(&c, tk_device));
		CK(cuCtxSetCurrent(c));
		for (int n = 0; n < BUFFERS; n++)
			CK(cuMemAlloc(&p[n], 1000 + tk_random(&seed) % 5000));
		for (int n = 0; n < BUFFERS; n++)
			CK(cuMemFree(p[n]));
		for (int n = 0; n < LEFT; n++)
			CK(cuMemAlloc(&p[n], 1000));
		CK(cuDevicePrimaryCtxRelease(tk_device));
		if (tk_random(&seed) % 2)
			usleep(tk_random(&seed) % 300);
	}
	return NULL;
}

int main(void)
{
	tk_init();
	until = tk_ms() + 4000;
	tk_in_threads(THREADS, use);
	puts("done");
}
