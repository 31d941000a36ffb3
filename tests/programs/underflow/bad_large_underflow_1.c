// expect: heap-buffer-underflow size 4194304 offset -1 in make_buffer
// suspect: k_flip
/* One byte before a buffer that fills its 2 MiB granules: the byte lies on the page before the device memory. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4 << 20);
	tk_flip(p, -1, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
