/*
 * The device is reset while a green context is there. What was allocated in that is the primary context's, and goes: it
 * must not be looked at any more, also where other memory comes to lie there.
 */
#include "green.h"

#if CUDA_VERSION < 12040
int main(void)
{
	tk_skip("no green contexts in this toolkit");
}
#else
static void reset_with_green(int retained)
{
	CUdeviceptr p;
	CUcontext c;
	void *host;

	if (retained)
		CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	make_green(&c);
	CK(cuMemAlloc(&p, (5 << 20) - 100));
	CK(cuMemAlloc(&p, 500));
	CK(cuMemAllocManaged(&p, 500, CU_MEM_ATTACH_GLOBAL));
	CK(cuMemAllocHost(&host, 500));
	CK(cuCtxSetCurrent(NULL));
	CK(cuDevicePrimaryCtxReset(tk_device));
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < 20; i++) {
		CK(cuMemAlloc(&p, (5 << 20) - 100));
		CK(cuMemsetD8(p, 1, (5 << 20) - 100));
		tk_sleep_ms(5);
		CK(cuMemFree(p));
	}
	puts("gone");
}

/* Nobody has retained the primary context at first. */
int main(void)
{
	tk_init();
	CK(cuDeviceGet(&tk_device, 0));
	reset_with_green(0);
	reset_with_green(1);
	return 0;
}
#endif
