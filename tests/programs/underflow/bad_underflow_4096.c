// expect: heap-buffer-underflow size 300 offset -4096 in make_buffer
// suspect: k_flip
/* A whole page before the start. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(300);
	tk_flip(p, -4096, 4096);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
