// case: bad_found_at_context_destroy 1
// case: bad_found_at_reset 0
// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// options: scan_interval_us=60000000
// suspect: k_flip
/* The buffer goes with its context, or when the device is reset. */
#include "make_buffer.h"

int main(void)
{
	int own_context = CASE;
	CUcontext context = own_context ? tk_start_in_new_context() : (tk_start(), tk_context);

	tk_flip(make_buffer(1000), 1000, 1);
	tk_sync();
	CK(own_context ? cuCtxDestroy(context) : cuDevicePrimaryCtxReset(tk_device));
}
