// devices: 2
// expect: post-mortem
// expect: heap-buffer-overflow device 0 size 5000 offset +0 in make_buffer
// suspect: k_flip
/*
 * A kernel on another device stores to an address that nobody owns, and that device is reset. The first one goes on:
 * what was allocated there before is still guarded, and so is what comes after. Contexts of one device break together
 * (measured on an H200, driver 580).
 */
#include "make_buffer.h"

enum { OTHER = 1 }; /* the device */

static CUcontext context;

static void break_another(void)
{
	CUmodule first = tk_module;
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
	tk_module = first;
}

int main(void)
{
	CUdeviceptr before, after;

	if (tk_init() < 2)
		tk_skip("one device only");
	tk_start();
	before = make_buffer(4000);
	break_another();
	after = make_buffer(5000);
	tk_flip(before, 0, 4000);
	tk_flip(after, 5000, 1);
	tk_sync();
	CK(cuMemFree(before));
	CK(cuMemFree(after));
}
