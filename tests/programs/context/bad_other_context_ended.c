// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
/* Another context has come and gone, with its buffers: those of this one are guarded on. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(1000);
	CUcontext other;

	CK(tk_create_context(&other, tk_device));
	make_buffer(1000);
	CK(cuCtxDestroy(other));
	CK(cuCtxSetCurrent(tk_context));
	tk_flip(p, 1000, 1);
	tk_sync();
	CK(cuMemFree(p));
}
