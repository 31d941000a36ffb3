// expect: heap-buffer-underflow size 4096 offset -8 in make_managed
// suspect: k_flip
/* Managed memory, a kernel writes before its start. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_managed(4096);
	tk_flip(p, -8, 8);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
