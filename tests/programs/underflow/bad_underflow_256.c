// expect: heap-buffer-underflow size 1000 offset -256 in make_buffer
// suspect: k_flip
/* 256 bytes before the start. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(1000);
	tk_flip(p, -256, 256);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
