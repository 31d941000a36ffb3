// expect: heap-buffer-overflow size 31 offset +0
// suspect: d_flip
/* The kernels come from a library and are launched by their CUkernel. */
#include "inkernel.h"

static CUfunction kernel_of(CUlibrary library, const char *name)
{
	CUkernel kernel;

	CK(cuLibraryGetKernel(&kernel, library, name));
	return (CUfunction)kernel;
}

int main(void)
{
	long long count = 32, size = 31, step = 0, index = 30, one = 1;
	CUlibrary library;
	CUdeviceptr p;

	tk_start();
	CK(cuLibraryLoadFromFile(&library, ik_file(), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuMemAlloc(&p, (size_t)count * sizeof(void *)));
	tk_launch_n(kernel_of(library, "d_alloc"), count, NULL, TK_ARGS(&p, &count, &size, &step));
	tk_launch_n(kernel_of(library, "d_flip"), 1, NULL, TK_ARGS(&p, &index, &size, &one));
	tk_sync();
}
