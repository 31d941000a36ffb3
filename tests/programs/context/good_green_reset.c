// guarded: some
/*
 * The device is reset while a green context is there, which is refused: all that was allocated stays. Then the green
 * one goes and a reset takes all there is: it must not be looked at any more, also where other memory comes to lie
 * there.
 */
#include "green.h"

#if CUDA_VERSION < 12040
int main(void)
{
	tk_skip("no green contexts in this toolkit");
}
#else
enum { LARGE = (5 << 20) - 100, SMALL = 500 };

static void fill(CUdeviceptr p, size_t size)
{
	CK(cuMemsetD8(p, 1, size));
	CK(cuMemFree(p));
}

static void reset_with_green(int retained)
{
	CUdeviceptr large, small, managed, left;
	CUgreenCtx green;
	CUcontext c;
	void *host;

	if (retained)
		CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	green = make_green(&c);
	CK(cuMemAlloc(&large, LARGE));
	CK(cuMemAlloc(&small, SMALL));
	CK(cuMemAllocManaged(&managed, SMALL, CU_MEM_ATTACH_GLOBAL));
	CK(cuMemAllocHost(&host, SMALL));
	CK(cuMemAlloc(&left, LARGE));
	REQUIRE(cuDevicePrimaryCtxReset(tk_device) == CUDA_ERROR_NOT_PERMITTED);
	fill(large, LARGE);
	fill(small, SMALL);
	fill(managed, SMALL);
	memset(host, 1, SMALL);
	CK(cuMemFreeHost(host));
	CK(cuMemAlloc(&small, SMALL));
	CK(cuCtxSetCurrent(NULL));
	CK(cuGreenCtxDestroy(green));
	CK(cuDevicePrimaryCtxReset(tk_device));
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < 20; i++) {
		CK(cuMemAlloc(&large, LARGE));
		CK(cuMemsetD8(large, 1, LARGE));
		tk_sleep_ms(5);
		CK(cuMemFree(large));
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
