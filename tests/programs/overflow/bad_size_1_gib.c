// expect: heap-buffer-overflow size 1073741824 offset +0 in make_buffer
// suspect: k_flip
// sim-env: SIM_MEMORY=4294967296
/* A buffer of 1 GiB. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(1 << 30);
	tk_flip(p, 1 << 30, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
