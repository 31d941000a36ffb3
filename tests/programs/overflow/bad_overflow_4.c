// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
/* Four bytes past the end: one int too many. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(1000);
	tk_flip(p, 1000, 4);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
