/* cuMemFree and cuMemFreeHost wait for what runs, and the program has nothing else to wait with. */
#include "testkit.h"

int main(void)
{
	volatile unsigned char *result;
	CUdeviceptr p;
	void *scratch;
	CUstream stream = tk_stream();
	void *host = tk_pinned(4096);

	memset(host, 0, 4096);
	result = host;
	for (int i = 0; i < 3; i++) {
		CK(cuMemAlloc(&p, 1000));
		tk_spin(stream, 50);
		tk_flip_on(stream, (CUdeviceptr)host, 0, 4096);
		CK(cuMemFree(p));
		printf("after cuMemFree %#x\n", result[4095]);
		CK(cuMemHostAlloc(&scratch, 1000, 0));
		tk_spin(stream, 50);
		tk_flip_on(stream, (CUdeviceptr)host, 0, 4096);
		CK(cuMemFreeHost(scratch));
		printf("after cuMemFreeHost %#x\n", result[4095]);
		CK(cuMemAllocManaged(&p, 1000, CU_MEM_ATTACH_GLOBAL));
		tk_spin(stream, 50);
		tk_flip_on(stream, (CUdeviceptr)host, 0, 4096);
		CK(cuMemFree(p));
		printf("after freeing managed memory %#x\n", result[4095]);
	}
}
