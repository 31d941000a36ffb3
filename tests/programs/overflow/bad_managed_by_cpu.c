// expect: heap-buffer-overflow size 4096 offset +3 in make_managed
/* Managed memory, overrun by the CPU. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_managed(4096);

	tk_sync();
	((volatile char *)p)[4096 + 3] ^= 0x5a;
	CK(cuMemFree(p));
}
