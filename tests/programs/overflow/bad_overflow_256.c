// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// suspect: k_flip
/* 256 bytes past the end, across the end of what natively is the buffer's own memory. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(12345);
	tk_flip(p, 12345, 256);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
