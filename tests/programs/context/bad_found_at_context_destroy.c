// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// options: gather_interval_ms=0
// suspect: k_flip
/* The buffer goes with its context. */
#include "make_buffer.h"

int main(void)
{
	CUcontext context;
	CUdeviceptr p;

	context = tk_start_in_new_context();
	p = make_buffer(1000);
	tk_flip(p, 1000, 1);
	tk_sync();
	CK(cuCtxDestroy(context));
	return 0;
}
