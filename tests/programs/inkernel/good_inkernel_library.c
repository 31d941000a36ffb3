/* A library of such kernels, used, unloaded and loaded again. */
#include "inkernel.h"

static void churn(CUlibrary library)
{
	long long rounds = 10, seed = 3;
	CUdeviceptr bad = ik_counter();
	CUkernel kernel;

	CK(cuLibraryGetKernel(&kernel, library, "d_churn"));
	tk_launch((CUfunction)kernel, 4, 64, NULL, TK_ARGS(&rounds, &seed, &bad));
	printf("marks gone: %d\n", ik_count(bad));
}

int main(void)
{
	CUlibrary library;

	tk_start();
	CK(cuLibraryLoadFromFile(&library, ik_file(), NULL, NULL, 0, NULL, NULL, 0));
	churn(library);
	CK(cuLibraryUnload(library));
	CK(cuLibraryLoadFromFile(&library, ik_file(), NULL, NULL, 0, NULL, NULL, 0));
	churn(library);
	churn(library);
}
