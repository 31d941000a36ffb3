/* A kernel writes into the canary behind a buffer, and a sweep finds it long before the buffer is freed. */
#include "testkit.h"

int main(void)
{
	enum { SIZE = 1 << 16 };
	CUdeviceptr p;

	tk_start();
	CK(cuMemAlloc(&p, SIZE));
	CK(cuMemFree(p));
	CK(cuMemAlloc(&p, SIZE));
	tk_flip(p, SIZE, 1);
	tk_sync();
	usleep(500000);
	CK(cuMemFree(p));
	return 0;
}
