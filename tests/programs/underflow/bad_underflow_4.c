// expect: heap-buffer-underflow size 4000 offset -4 in make_buffer
// suspect: k_flip
/* The int before the start: index -1. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	tk_flip(p, -4, 4);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
