// expect: heap-buffer-overflow device 1 size 5000 offset +0 in make_buffer
// devices: 2
// suspect: k_flip
/* The same on the second of two devices. */
#include "make_buffer.h"

int main(void)
{
	CUcontext context;
	CUdeviceptr p;

	if (tk_init() < 2)
		tk_skip("one device only");
	tk_start();
	CK(cuDeviceGet(&tk_device, 1));
	CK(cuDevicePrimaryCtxRetain(&context, tk_device));
	CK(cuCtxSetCurrent(context));
	tk_module = tk_load_kernels();
	p = make_buffer(5000);
	tk_flip(p, 5000, 1);
	tk_sync();
	CK(cuMemFree(p));
}
