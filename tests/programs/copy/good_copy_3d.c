/* Boxes copied between host and device, whose last byte is the buffer's last. */
#include "testkit.h"

#define W 100
#define H 20
#define D 5

int main(void)
{
	static unsigned char host[D][H][W], back[D][H][W];
	CUDA_MEMCPY3D copy = {.srcPitch = W, .srcHeight = H, .dstPitch = W, .dstHeight = H};
	CUdeviceptr p;

	tk_start();
	for (size_t i = 0; i < sizeof(host); i++)
		((unsigned char *)host)[i] = (unsigned char)(i * 7);
	CK(cuMemAlloc(&p, sizeof(host)));
	copy.WidthInBytes = W;
	copy.Height = H;
	copy.Depth = D;
	copy.srcMemoryType = CU_MEMORYTYPE_HOST;
	copy.srcHost = host;
	copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.dstDevice = p;
	CK(cuMemcpy3D(&copy));
	copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.srcDevice = p;
	copy.dstMemoryType = CU_MEMORYTYPE_HOST;
	copy.dstHost = back;
	CK(cuMemcpy3DAsync(&copy, NULL));
	tk_sync();
	printf("same: %d\n", !memcmp(host, back, sizeof(host)));
	CK(cuMemFree(p));
}
