/* The device is reset with buffers alive, then used again, three times over. */
#include "testkit.h"
#include "process.h"

int main(void)
{
	CUdeviceptr p;

	for (int i = 0; i < 3; i++) {
		tk_start();
		for (int n = 1; n <= 20; n++) {
			CK(cuMemAlloc(&p, 1000 * n));
			tk_flip(p, 0, 1000 * n);
		}
		use_cuda(4000);
		CK(cuDevicePrimaryCtxReset(tk_device));
		printf("reset %d\n", i);
	}
	tk_start();
	use_cuda(5000);
	puts("used again");
}
