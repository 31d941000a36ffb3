// expect: invalid-free in give_back
/* A pointer the driver never handed out. */
#include "make_buffer.h"

EXPORTED CUresult give_back(CUdeviceptr p)
{
	CUresult r = cuMemFree(p);

	REQUIRE(r != CUDA_SUCCESS);
	return r;
}

int main(void)
{
	static int not_the_drivers;

	tk_start();
	REQUIRE(give_back((CUdeviceptr)&not_the_drivers) == CUDA_ERROR_INVALID_VALUE);
	return 0;
}
