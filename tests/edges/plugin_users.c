/* A library that a user has written, and calls from Python: it frees a buffer twice. */
#include "testkit.h"

__attribute__((visibility("default"))) int users_free_twice(void)
{
	CUdeviceptr p;

	tk_start();
	CK(cuMemAlloc(&p, 1000));
	CK(cuMemFree(p));
	return cuMemFree(p) == CUDA_SUCCESS;
}
