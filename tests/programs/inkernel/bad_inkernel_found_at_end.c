// case: bad_inkernel_context_destroyed 1
// case: bad_inkernel_reset 0
// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
/* The heap goes with its context, or the device is reset, right after the kernels. */
#include "inkernel.h"

int main(void)
{
	int own_context = CASE;
	CUcontext context = own_context ? ik_start_in_new_context() : (ik_start(), tk_context);

	ik_flip(ik_alloc(20, 60), 9, 60, 1);
	tk_sync();
	CK(own_context ? cuCtxDestroy(context) : cuDevicePrimaryCtxReset(tk_device));
}
