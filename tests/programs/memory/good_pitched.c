/* Pitched memory, used up to the end of its last row's padding, and copied as a rectangle. */
#include "testkit.h"

int main(void)
{
	static char host[30][700], back[30][700];
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 700};
	size_t pitch, size;
	CUdeviceptr p, base;

	tk_start();
	memset(host, 5, sizeof(host));
	CK(cuMemAllocPitch(&p, &pitch, 700, 30, 4));
	CK(cuMemGetAddressRange(&base, &size, p));
	printf("pitch %zu, %zu bytes\n", pitch, size);
	copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.dstDevice = p;
	copy.dstPitch = pitch;
	copy.WidthInBytes = 700;
	copy.Height = 30;
	CK(cuMemcpy2D(&copy));
	copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = pitch};
	copy.dstMemoryType = CU_MEMORYTYPE_HOST;
	copy.dstHost = back;
	copy.dstPitch = 700;
	copy.WidthInBytes = 700;
	copy.Height = 30;
	CK(cuMemcpy2DAsync(&copy, NULL));
	tk_sync();
	printf("same: %d\n", !memcmp(host, back, sizeof(host)));
	CK(cuMemsetD2D8(p, pitch, 9, 700, 30));
	tk_flip(p, 0, (long long)(pitch * 30));
	tk_sync();
	CK(cuMemFree(p));
}
