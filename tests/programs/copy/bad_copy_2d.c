// expect: api-out-of-bounds size 10000 in make_buffer
/* A rectangle whose last row does not fit. */
#include "make_buffer.h"

int main(void)
{
	static char host[100 * 101];
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 100};
	CUdeviceptr p = make_buffer(10000);

	copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.dstDevice = p;
	copy.dstPitch = 100;
	copy.WidthInBytes = 100;
	copy.Height = 101;
	EXPECT(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
	copy.Height = 100;
	CK(cuMemcpy2D(&copy));
	CK(cuMemFree(p));
}
