// expect: heap-buffer-overflow size 77 offset +0
// expect: heap-buffer-overflow size 88 offset +0
// suspect: d_flip
/* Two contexts, each with a module of its own: what one of them does wrong is found in its own heap. */
#include "inkernel.h"

static void overflow_in(CUmodule module, long long size)
{
	CUdeviceptr p = ik_alloc_of(module, 20, size, 0);
	long long index = 3, one = 1;

	tk_launch(tk_kernel_of(module, "d_flip"), 1, 1, NULL, TK_ARGS(&p, &index, &size, &one));
}

int main(void)
{
	CUcontext context;

	ik_start();
	CK(tk_create_context(&context, tk_device));
	overflow_in(ik_another(), 88);
	tk_sync();
	CK(cuCtxSetCurrent(tk_context));
	overflow_in(ik_module, 77);
	tk_sync();
}
