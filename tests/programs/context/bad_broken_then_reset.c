// expect: post-mortem
// suspect: k_illegal
/* A kernel breaks the context, the program resets the device and asks for it again: that is the same fault. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr wild = 16;
	CUcontext again;
	int value = 1;

	tk_start();
	make_buffer(1000);
	tk_launch(tk_kernel("k_illegal"), 1, 1, NULL, TK_ARGS(&wild, &value));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	cuDevicePrimaryCtxReset(0);
	if (cuDevicePrimaryCtxRetain(&again, 0) == CUDA_SUCCESS && cuCtxSetCurrent(again) == CUDA_SUCCESS)
		cuCtxSynchronize();
}
