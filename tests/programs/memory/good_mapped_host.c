/* Pinned memory of every kind: its flags, its device pointer, and kernels that write all of it. */
#include "testkit.h"

int main(void)
{
	static const unsigned flags[] = {0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP,
					 CU_MEMHOSTALLOC_WRITECOMBINED | CU_MEMHOSTALLOC_DEVICEMAP};
	static const size_t sizes[] = {1, 777, 4096, 100000};

	tk_start();
	for (int i = 0; i < 16; i++) {
		CUdeviceptr device;
		unsigned got;
		void *host;

		CK(cuMemHostAlloc(&host, sizes[i % 4], flags[i / 4]));
		CK(cuMemHostGetFlags(&got, host));
		CK(cuMemHostGetDevicePointer(&device, host, 0));
		memset(host, 1, sizes[i % 4]);
		tk_flip(device, 0, (long long)sizes[i % 4]);
		tk_sync();
		printf("flags %#x, same pointer: %d, last byte %#x\n", got, device == (CUdeviceptr)host,
		       ((unsigned char *)host)[sizes[i % 4] - 1]);
		CK(cuMemFreeHost(host));
	}
}
