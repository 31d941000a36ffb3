// expect: heap-buffer-overflow size 1048576 offset +0 in make_buffer
// suspect: k_flip
/* A buffer of 1 MiB. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(1 << 20);
	tk_flip(p, 1 << 20, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
