// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
/* The heap goes with its context. */
#include "inkernel.h"

int main(void)
{
	CUcontext context;
	CUdeviceptr p;

	tk_init();
	CK(cuDeviceGet(&tk_device, 0));
	CK(cuCtxCreate(&context, NULL, 0, tk_device));
	CK(cuModuleLoad(&ik_module, ik_file()));
	p = ik_alloc(20, 60);
	ik_flip(p, 9, 60, 1);
	tk_sync();
	CK(cuCtxDestroy(context));
	return 0;
}
