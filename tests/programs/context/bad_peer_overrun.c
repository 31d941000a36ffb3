// expect: heap-buffer-overflow device 0 size 5000 offset +0 in make_buffer
// devices: 2
// suspect: k_flip
/* A kernel on one device writes past a buffer of the other, which it reaches as a peer. */
#include "make_buffer.h"

int main(void)
{
	CUcontext other;
	CUdeviceptr p;
	CUmodule module;
	int can = 0;

	if (tk_init() < 2)
		tk_skip("one device only");
	CK(cuDeviceCanAccessPeer(&can, 1, 0));
	if (!can)
		tk_skip("no peer access between the devices");
	tk_start();
	p = make_buffer(5000);
	tk_sync();
	CK(cuDevicePrimaryCtxRetain(&other, 1));
	CK(cuCtxSetCurrent(other));
	CK(cuCtxEnablePeerAccess(tk_context, 0));
	module = tk_module;
	tk_module = tk_load_kernels();
	tk_flip(p, 5000, 1);
	tk_sync();
	tk_module = module;
	CK(cuCtxSetCurrent(tk_context));
	CK(cuMemFree(p));
}
