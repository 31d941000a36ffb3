// expect: heap-buffer-overflow size 6000 offset +0 in make_portable
// suspect: k_wait_flip
/* A second context of the program's own, where it loads nothing: the kernel is a library's, loaded before. */
#include "second_context.h"

static CUkernel kernel;

static CUfunction in_new_context(void)
{
	CUcontext c;

	CK(tk_create_context(&c, tk_device));
	return (CUfunction)kernel;
}

int main(void)
{
	CUlibrary library;

	tk_start();
	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, library, "k_wait_flip"));
	overrun_from(in_new_context);
}
