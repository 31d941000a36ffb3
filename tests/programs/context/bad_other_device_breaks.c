// devices: 2
// expect: post-mortem
/*
 * A kernel on another device stores to an address that nobody owns, and that device is reset. All contexts of the
 * process break together, the first device's too (measured on two H100s, driver 580): one report says so.
 */
#include "make_buffer.h"

enum { OTHER = 1 }; /* the device */

static CUcontext context;

static void break_another(void)
{
	CUdeviceptr wild = 16, p;
	int value = 1;

	CK(cuDevicePrimaryCtxRetain(&context, OTHER));
	CK(cuCtxSetCurrent(context));
	tk_module = tk_load_kernels();
	p = make_buffer(3000);
	tk_launch(tk_kernel("k_illegal"), 1, 1, NULL, TK_ARGS(&wild, &value));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemAlloc(&wild, 100), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemFree(p), CUDA_ERROR_ILLEGAL_ADDRESS);
	CK(cuDevicePrimaryCtxReset(OTHER));
	CK(cuCtxSetCurrent(tk_context));
}

int main(void)
{
	CUdeviceptr before, after;

	if (tk_init() < 2)
		tk_skip("one device only");
	tk_start();
	before = make_buffer(4000);
	break_another();
	EXPECT(cuMemAlloc(&after, 5000), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemFree(before), CUDA_ERROR_ILLEGAL_ADDRESS);
}
