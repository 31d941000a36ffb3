// expect: heap-buffer-overflow size 511 offset +0 in make_buffer
// suspect: k_flip
/* 255 bytes past the end of a buffer of an odd size. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(511);
	tk_flip(p, 511, 255);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
