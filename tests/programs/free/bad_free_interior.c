// expect: invalid-free size 4000 in make_buffer
/* A pointer into a buffer; the buffer itself stays usable. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	EXPECT(cuMemFree(p + 512), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemsetD8(p, 1, 4000));
	CK(cuMemFree(p));
	return 0;
}
