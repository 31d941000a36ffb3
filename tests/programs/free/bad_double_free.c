// expect: double-free size 4000 in make_buffer
/* The same buffer freed twice; the driver's own answer reaches the program. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	CK(cuMemFree(p));
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	return 0;
}
