// devices: 2
/* Kernels on one device write to small and large buffers of the other, made before and after access was enabled. */
#include "testkit.h"

enum { SMALL = 5000, LARGE = 3000000 };

static size_t right(CUdeviceptr p, size_t size)
{
	static unsigned char host[LARGE];
	size_t n = 0;

	CK(cuMemcpyDtoH(host, p, size));
	for (size_t i = 0; i < size; i++)
		n += host[i] == 0x5a;
	return n;
}

int main(void)
{
	size_t sizes[] = {SMALL, LARGE, SMALL, LARGE};
	CUcontext context[2];
	CUdeviceptr p[4];
	CUmodule module[2];
	int can = 0;

	if (tk_init() < 2)
		tk_skip("one device only");
	for (int i = 1; i >= 0; i--) {
		CK(cuDevicePrimaryCtxRetain(&context[i], i));
		CK(cuCtxSetCurrent(context[i]));
		module[i] = tk_load_kernels();
	}
	CK(cuDeviceCanAccessPeer(&can, 1, 0));
	if (!can)
		tk_skip("no peer access between the devices");
	for (int i = 0; i < 4; i++) {
		if (i == 2) {
			CK(cuCtxSetCurrent(context[1]));
			CK(cuCtxEnablePeerAccess(context[0], 0));
			EXPECT(cuCtxEnablePeerAccess(context[0], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
			CK(cuCtxSetCurrent(context[0]));
		}
		CK(cuMemAlloc(&p[i], sizes[i]));
		CK(cuMemsetD8(p[i], 0, sizes[i]));
	}
	tk_sync();
	CK(cuCtxSetCurrent(context[1]));
	tk_module = module[1];
	for (int i = 0; i < 4; i++)
		tk_flip(p[i], 0, (long long)sizes[i]);
	tk_sync();
	CK(cuCtxSetCurrent(context[0]));
	for (int i = 0; i < 4; i++) {
		printf("%zu of %zu right\n", right(p[i], sizes[i]), sizes[i]);
		CK(cuMemFree(p[i]));
	}
}
