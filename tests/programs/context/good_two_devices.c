// devices: 2
/* Buffers on two devices, copied between them, each device's answers its own. */
#include "testkit.h"

int main(void)
{
	static unsigned char host[5000];
	CUcontext context[2];
	CUdeviceptr p[2];
	int ordinal, right = 0;

	if (tk_init() < 2)
		tk_skip("one device only");
	for (int i = 0; i < 2; i++) {
		CK(cuDeviceGet(&tk_device, i));
		CK(cuDevicePrimaryCtxRetain(&context[i], tk_device));
		CK(cuCtxSetCurrent(context[i]));
		tk_module = tk_load_kernels();
		CK(cuMemAlloc(&p[i], 5000));
		CK(cuMemsetD8(p[i], (unsigned char)i, 5000));
		tk_flip(p[i], 0, 5000);
		tk_sync();
		CK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p[i]));
		printf("buffer %d is on device %d\n", i, ordinal);
	}
	CK(cuMemcpyPeer(p[1], context[1], p[0], context[0], 5000));
	CK(cuMemcpyDtoH(host, p[1], 5000));
	for (int i = 0; i < 5000; i++)
		right += host[i] == 0x5a;
	printf("%d bytes right\n", right);
	CK(cuMemFree(p[0]));
	CK(cuMemFree(p[1]));
}
