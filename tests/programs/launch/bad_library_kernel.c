// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
/* A kernel that came from a library, launched by its CUkernel, and whose library is unloaded before the report. */
#include "make_buffer.h"

int main(void)
{
	long long off = 3000, count = 2;
	CUlibrary library;
	CUkernel kernel;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(3000);
	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, library, "k_flip"));
	tk_launch((CUfunction)kernel, 1, 2, NULL, TK_ARGS(&p, &off, &count));
	tk_sync();
	CK(cuLibraryUnload(library));
	CK(cuMemFree(p));
	return 0;
}
