// expect: api-out-of-bounds size 1000 in make_buffer
/* A copy between two buffers that fits into the one and not into the other. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr from = make_buffer(2000);
	CUdeviceptr to = make_buffer(1000);

	CK(cuMemsetD8(from, 1, 2000));
	EXPECT(cuMemcpyDtoD(to, from, 1001), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemcpyDtoD(to, from, 1000));
	CK(cuMemFree(from));
	CK(cuMemFree(to));
}
