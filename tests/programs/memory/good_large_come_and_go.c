// sim-env: SIM_MEMORY=268435456
/* Large buffers beside small ones in 4 threads, then a reset with some alive, five times over, then a context that is
 * destroyed. What would stay behind is more than the simulated device has. */
#include "testkit.h"

enum { THREADS = 4, ROUNDS = 60, HELD = 5 };

/* Both ends of a buffer: the simulator takes a while for all of it. */
static void touch(CUdeviceptr p, long long size)
{
	long long end = size < 4096 ? size : 4096;

	tk_flip(p, 0, end);
	tk_flip(p, size - end, end);
}

static void *churn(void *arg)
{
	CUdeviceptr held[HELD] = {0};
	uint64_t seed = 1 + (uintptr_t)arg;

	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < ROUNDS; i++) {
		size_t size = 1 + tk_random(&seed) % (6 << 20);
		CUdeviceptr *p = &held[i % HELD];

		if (*p)
			CK(cuMemFree(*p));
		CK(cuMemAlloc(p, size));
		touch(*p, (long long)size);
	}
	return NULL;
}

int main(void)
{
	CUcontext context;
	CUdeviceptr p;

	for (int round = 0; round < 5; round++) {
		tk_start();
		tk_in_threads(THREADS, churn);
		tk_sync();
		CK(cuDevicePrimaryCtxReset(tk_device));
		printf("reset %d\n", round);
	}
	tk_start();
	CK(tk_create_context(&context, tk_device));
	for (int i = 0; i < 10; i++) {
		CK(cuMemAlloc(&p, 3000000));
		CK(cuMemsetD8(p, 1, 3000000));
	}
	CK(cuCtxDestroy(context));
	CK(cuCtxSetCurrent(tk_context));
	CK(cuMemAlloc(&p, 9 << 20));
	touch(p, 9 << 20);
	CK(cuMemFree(p));
	puts("done");
}
