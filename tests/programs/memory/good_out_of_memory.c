/* Requests that no device can meet are refused with the driver's own error, and the program goes on. */
#include "testkit.h"

int main(void)
{
	size_t free_bytes, total, pitch;
	CUdeviceptr p, q = 42;

	tk_start();
	CK(cuMemGetInfo(&free_bytes, &total));
	printf("half the address space: %s\n", tk_error_name(cuMemAlloc(&q, SIZE_MAX / 2)));
	printf("rows: %s\n", tk_error_name(cuMemAllocPitch(&q, &pitch, 1 << 20, (total >> 20) + 1, 4)));
	for (int i = 0; i < 10; i++) {
		CK(cuMemAlloc(&p, 100000));
		tk_flip(p, 0, 100000);
		CK(cuMemFree(p));
	}
	tk_sync();
	puts("went on");
}
