// guarded: no
/*
 * Green contexts, and nobody retains the primary one: they hold it, and what is allocated in them is its own. So it
 * outlives a green context as long as there is another, and is gone with the last.
 */
#include "green.h"

static void outlived(void)
{
	static const size_t size[] = {1000, 5 << 20, 1000};
	CUdeviceptr p[3];
	char there[1000];
	CUcontext c, rest;
	CUgreenCtx second = make_green(&rest);
	CUgreenCtx first = make_green(&c);

	for (int i = 0; i < 3; i++)
		CK(cuMemAlloc(&p[i], size[i]));
	CK(cuGreenCtxDestroy(first));
	CK(cuCtxSetCurrent(rest));
	for (int i = 0; i < 3; i++) {
		CK(cuMemsetD8(p[i], 5, 1000));
		CK(cuMemcpyDtoH(there, p[i], 1000));
		REQUIRE(there[0] == 5 && there[999] == 5);
		CK(cuMemFree(p[i]));
	}
	CK(cuGreenCtxDestroy(second));
	CK(cuCtxSetCurrent(NULL));
	puts("outlived");
}

/* The first one's buffers are known to be the primary context's when the last one goes, and are not looked at then. */
static void gone_with_the_last(void)
{
	CUcontext c, rest;
	CUgreenCtx second = make_green(&rest);
	CUgreenCtx first = make_green(&c);
	CUdeviceptr p = tk_alloc(1000);

	CK(cuMemAlloc(&p, 5 << 20));
	CK(cuMemAllocManaged(&p, 1000, CU_MEM_ATTACH_GLOBAL));
	CK(cuGreenCtxDestroy(first));
	CK(cuGreenCtxDestroy(second));
	CK(cuCtxSetCurrent(NULL));
	second = make_green(&rest);
	for (int i = 0; i < 20; i++) {
		CK(cuMemAlloc(&p, 3000));
		CK(cuMemsetD8(p, 7, 1000));
		tk_sleep_ms(5);
		CK(cuMemFree(p));
	}
	CK(cuGreenCtxDestroy(second));
	puts("gone");
}

int main(void)
{
	tk_init();
	outlived();
	gone_with_the_last();
}
