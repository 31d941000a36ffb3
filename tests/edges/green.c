/*
 * Buffers beside green contexts. What is allocated in one is native, and counted. What is the primary context's
 * outlives the green one and is watched on where somebody else retains it; without, it is gone with the last green one.
 */
#include "green.h"
#include "make_buffer.h"

static CUgreenCtx make_green_with_kernels(CUcontext *c)
{
	CUgreenCtx green = make_green(c);

	tk_module = tk_load_kernels();
	return green;
}

static void outlived(void)
{
	CUdeviceptr p, q, early, native;
	CUgreenCtx green;
	CUcontext c;

	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	p = make_buffer(1000);
	q = make_buffer(4096);
	early = make_buffer(1000);
	green = make_green_with_kernels(&c);
	native = make_buffer(3000);
	make_pinned(200);
	make_managed(40);
	tk_flip(native, 0, 3000);
	CK(cuMemFree(native));
	tk_flip(early, 1000, 1);
	tk_sync();
	CK(cuMemFree(early));
	CK(cuGreenCtxDestroy(green));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = tk_load_kernels();
	CK(cuMemsetD8(p, 1, 1000));
	tk_flip(p, 1000, 1);
	tk_flip(q, 4096, 1);
	tk_sync();
	CK(cuMemFree(q));
	EXPECT(cuMemFree(q), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
	CK(cuDevicePrimaryCtxRelease(tk_device));
}

static void gone(void)
{
	CUgreenCtx green, other;
	CUcontext c, o;
	CUdeviceptr p;

	for (int i = 0; i < 3; i++) {
		green = make_green_with_kernels(&c);
		make_buffer(1000);
		tk_flip(make_buffer(4096), 0, 4096);
		tk_sync();
		CK(cuGreenCtxDestroy(green));
		tk_sleep_ms(30);
	}
	/* It holds the primary context, and the buffers in that, when nobody else does any more. */
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = tk_load_kernels();
	p = make_buffer(1000);
	green = make_green_with_kernels(&c);
	CK(cuDevicePrimaryCtxRelease(tk_device));
	tk_flip(p, 0, 1000);
	tk_sync();
	CK(cuGreenCtxDestroy(green));
	tk_sleep_ms(30);
	/* Held by another green context alone. */
	green = make_green_with_kernels(&c);
	p = make_buffer(1000);
	other = make_green_with_kernels(&o);
	CK(cuGreenCtxDestroy(green));
	tk_flip(p, 0, 1000);
	tk_sync();
	CK(cuMemFree(p));
	CK(cuGreenCtxDestroy(other));
	tk_sleep_ms(30);
}

int main(void)
{
	tk_init();
	outlived();
	gone();
	puts("done");
}
