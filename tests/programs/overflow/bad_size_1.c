// expect: heap-buffer-overflow size 1 offset +0 in make_buffer
// suspect: k_flip
/* The smallest buffer there is. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(1);
	tk_flip(p, 1, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
