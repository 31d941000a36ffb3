// expect: heap-buffer-overflow size 6000 offset +0 in make_managed
// suspect: k_flip
/* Managed memory, overrun by a kernel. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_managed(6000);
	tk_flip(p, 6000, 8);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
