/*
 * detach: a context that two are attached to. It outlives the first cuCtxDetach(), with its buffers, and goes with the
 * second. detach primary: one that never goes by it.
 */
#include "make_buffer.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void overrun(CUdeviceptr p)
{
	tk_flip(p, 1000, 1);
	tk_sync();
}

static void ask(CUdeviceptr p)
{
	CUdeviceptr base = 0;
	size_t size = 0;

	CK(cuMemGetAddressRange(&base, &size, p));
	printf("%d, %zu bytes\n", base == p, size);
}

static void use_and_leave(CUcontext c)
{
	CUdeviceptr p = make_buffer(1000), q = make_buffer(1000);

	CK(cuCtxAttach(&c, 0));
	CK(cuCtxDetach(c));
	ask(p);
	CK(cuMemFree(q));
	overrun(p);
	EXPECT(cuMemFree(q), CUDA_ERROR_INVALID_VALUE);
	CK(cuCtxDetach(c));
}

int main(int argc, char **argv TK_UNUSED)
{
	tk_start();
	if (argc > 1) {
		use_and_leave(tk_context);
		return 0;
	}
	for (int i = 0; i < 3; i++) {
		use_and_leave(tk_new_context());
		/* What is gone is not looked at. */
		tk_sleep_ms(30);
	}
	CK(cuCtxSetCurrent(tk_context));
	tk_module = tk_load_kernels();
	overrun(make_buffer(1000));
	return 0;
}
