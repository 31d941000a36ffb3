/* For python.py: the routine of a thread that Python does not know, and that overruns a buffer. */
#include <cuda.h>

struct work {
	CUcontext context;
	CUfunction flip;
	size_t size;
};

void *overrun(void *argument)
{
	const struct work *w = argument;
	long long at = (long long)w->size, n = 4;
	CUdeviceptr p;
	void *values[] = {&p, &at, &n};

	if (cuCtxSetCurrent(w->context) || cuMemAlloc(&p, w->size) ||
	    cuLaunchKernel(w->flip, 1, 1, 1, 32, 1, 1, 0, NULL, values, NULL) || cuCtxSynchronize() || cuMemFree(p))
		return NULL;
	return argument;
}
