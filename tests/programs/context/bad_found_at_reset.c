// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// options: gather_interval_ms=0
// suspect: k_flip
/* The buffer goes when the device is reset. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(1000);
	tk_flip(p, 1000, 1);
	tk_sync();
	CK(cuDevicePrimaryCtxReset(tk_device));
	return 0;
}
