/* Eight threads make the process's first calls at once. */
#include "process.h"

static pthread_barrier_t all;

static void *first(void *unused TK_UNUSED)
{
	CUcontext context;
	CUdeviceptr p;

	pthread_barrier_wait(&all);
	CK(cuInit(0));
	CK(cuDevicePrimaryCtxRetain(&context, 0));
	CK(cuCtxSetCurrent(context));
	for (int i = 1; i < 20; i++) {
		CK(cuMemAlloc(&p, 100 * i));
		CK(cuMemsetD8(p, 1, 100 * i));
		CK(cuMemFree(p));
	}
	return NULL;
}

int main(void)
{
	pthread_barrier_init(&all, NULL, 8);
	tk_in_threads(8, first);
	puts("done");
}
