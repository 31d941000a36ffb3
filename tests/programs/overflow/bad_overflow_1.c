// expect: heap-buffer-overflow size 4000 offset +0 in make_buffer
// suspect: k_flip
/* One byte past the end of a buffer whose size is no multiple of anything. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	tk_flip(p, 4000, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
