// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
/* A reset that a green context forbids is over; what there is stays guarded. */
#include "green.h"
#include "make_buffer.h"

#if CUDA_VERSION < 12040
int main(void)
{
	tk_skip("no green contexts in this toolkit");
}
#else
int main(void)
{
	CUgreenCtx green;
	CUdeviceptr p;
	CUcontext c;

	tk_start();
	p = make_buffer(1000);
	green = make_green(&c);
	REQUIRE(cuDevicePrimaryCtxReset(tk_device) == CUDA_ERROR_NOT_PERMITTED);
	CK(cuCtxSetCurrent(tk_context));
	tk_flip(p, 1000, 1);
	tk_sync();
	CK(cuMemFree(p));
	CK(cuGreenCtxDestroy(green));
	return 0;
}
#endif
