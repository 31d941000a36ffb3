// expect: heap-buffer-underflow size 4096 offset -1 in make_buffer
// suspect: k_flip
/* The byte before the start. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4096);
	tk_flip(p, -1, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
