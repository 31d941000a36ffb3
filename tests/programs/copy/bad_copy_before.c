// expect: 2 x api-out-of-bounds size 700 offset -4 in make_buffer
// expect: api-out-of-bounds size 1000 offset +4 in make_buffer
/* Ranges that begin between two buffers and reach into the second one: each is of the buffer that is nearer. */
#include "make_buffer.h"

int main(void)
{
	static const char host[8];
	CUdeviceptr front = make_buffer(1000), p = make_buffer(700);

	REQUIRE(front < p);
	EXPECT(cuMemcpyHtoD(p - 4, host, sizeof(host)), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD8(p - 4, 0, 8), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD8(front + 1004, 0, p - front), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(front));
	CK(cuMemFree(p));
}
