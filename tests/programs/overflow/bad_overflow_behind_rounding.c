// expect: heap-buffer-overflow size 100 offset +256 in make_buffer
// suspect: k_flip
/* One byte, not next to the end but 256 bytes past it. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(100);
	tk_flip(p, 356, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
