// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip
/* One byte past the end of a buffer that fills its page. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4096);
	tk_flip(p, 4096, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
