/* The program's own memory, registered: kernels write it to its last byte. */
#include "testkit.h"

int main(void)
{
	CUdeviceptr device;
	int right = 0;
	char *host;
	CUdeviceptr p = tk_alloc(4096);

	REQUIRE(!posix_memalign((void **)&host, 4096, 8192));
	memset(host, 0, 8192);
	CK(cuMemHostRegister(host, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
	CK(cuMemHostGetDevicePointer(&device, host, 0));
	tk_flip(device, 0, 8192);
	tk_sync();
	CK(cuMemcpyHtoDAsync(p, host, 4096, NULL));
	tk_sync();
	CK(cuMemHostUnregister(host));
	for (int i = 0; i < 8192; i++)
		right += host[i] == 0x5a;
	printf("%d bytes right\n", right);
	free(host);
	CK(cuMemFree(p));
}
