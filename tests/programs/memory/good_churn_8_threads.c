/* Eight threads allocate, fill to the last byte and free, each on a stream of its own. */
#include "testkit.h"

#define THREADS 8
#define ROUNDS 60
#define HELD 4

static void *churn(void *number)
{
	uint64_t seed = 1 + (uintptr_t)number;
	CUdeviceptr held[HELD] = {0};
	CUstream stream;

	CK(cuCtxSetCurrent(tk_context));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < ROUNDS; i++) {
		size_t size = 1 + tk_random(&seed) % (i % 8 ? 3000 : 200000);
		CUdeviceptr *p = &held[i % HELD];

		CK(cuMemFree(*p));
		CK(cuMemAlloc(p, size));
		tk_flip_on(stream, *p, 0, (long long)size);
	}
	for (int i = 0; i < HELD; i++)
		CK(cuMemFree(held[i]));
	CK(cuStreamDestroy(stream));
	return NULL;
}

int main(void)
{
	tk_start();
	tk_kernel("k_flip");
	tk_in_threads(THREADS, churn);
	puts("done");
}
