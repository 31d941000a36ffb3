// case: good_quarantine_elsewhere_freed free_some
// case: good_quarantine_elsewhere_ended end_context => skip-on: gpu
// case: good_quarantine_elsewhere_exhausted exhaust
// options: backend=device:quarantine_mb=1
// devices: 2
// guarded: no
// ledger: what is kept back
/*
 * A buffer of device 1 was freed and is kept back, and a kernel there waits for the host. What the host does first on
 * device 0 waits for nothing on device 1. (The driver's own end of a context waits for kernels of other devices, as two
 * H200s showed.)
 */
#include "make_buffer.h"

static CUcontext zero;

static TK_UNUSED void free_some(void)
{
	for (int i = 0; i < 2; i++)
		CK(cuMemFree(make_buffer(600 << 10)));
}

static TK_UNUSED void end_context(void)
{
	CK(cuCtxDestroy(zero));
}

static TK_UNUSED void exhaust(void)
{
	CUdeviceptr p;

	EXPECT(cuMemAlloc(&p, (size_t)1 << 45), CUDA_ERROR_OUT_OF_MEMORY);
}

int main(void)
{
	CUdeviceptr none = 0;
	long long nothing = 0;
	volatile int *flag;
	CUcontext one;
	double began;

	if (tk_init() < 2)
		tk_skip("two devices are wanted");
	CK(tk_create_context(&zero, 0));
	make_buffer(1000);
	CK(tk_create_context(&one, 1));
	tk_module = tk_load_kernels();
	flag = tk_flag();
	CK(cuMemFree(make_buffer(600 << 10)));
	tk_launch(tk_kernel("k_wait_flip"), 1, 1, NULL, TK_ARGS(&none, &nothing, &nothing, &flag));
	CK(cuCtxSetCurrent(zero));
	began = tk_ms();
	CASE();
	REQUIRE(tk_ms() - began < 5000);
	*flag = 1;
	CK(cuCtxSetCurrent(one));
	CK(cuCtxSynchronize());
	puts("done");
}
