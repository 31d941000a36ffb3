// devices: 2
/* Every call that makes, enters, leaves or ends a context, and those by which the others are found. */
#include "every.h"

/* Memory in the context that is current, which goes with it. */
static void use(void)
{
	CUdeviceptr p = 0;
	unsigned char last = 0;

	SAY(cuMemAlloc_v2, &p, 1000);
	CK(cuMemsetD8(p, 5, 1000));
	CK(cuMemcpyDtoH(&last, p + 999, 1));
	printf("last byte %d\n", last);
}

static void is_current(CUcontext c)
{
	CUcontext now = NULL;

	CK(cuCtxGetCurrent(&now));
	printf("current: %d\n", now == c);
}

static void made(void)
{
	CUcontext c = NULL, popped;

	if (SAY(cuCtxCreate, &c, 0, tk_device) == CUDA_SUCCESS) {
		use();
		SAY(cuCtxDestroy, c);
	}
	SAY(cuCtxCreate_v2, &c, 0, tk_device);
	use();
	CK(cuCtxPopCurrent(&popped));
	/* The first version wants it for this thread alone, and GMOD's may be in it for a moment. */
	for (int i = 0; i < 1000 && hook_cuCtxPushCurrent(c) == CUDA_ERROR_INVALID_CONTEXT; i++)
		tk_sleep_ms(1);
	is_current(c);
	CK(cuCtxPopCurrent(&popped));
	SAY(cuCtxPushCurrent_v2, c);
	is_current(c);
	SAY(cuCtxDestroy_v2, c);
	is_current(tk_context);
	SAY(cuCtxPushCurrent, NULL);
	if (SAY(cuCtxCreate_v3, &c, NULL, 0, 0, tk_device) == CUDA_SUCCESS) {
		use();
		SAY(cuCtxDetach, c);
	}
	if (SAY(cuCtxCreate_v4, &c, NULL, 0, tk_device) == CUDA_SUCCESS) {
		use();
		SAY(cuCtxDestroy, c);
	}
	SAY(cuCtxSetCurrent, tk_context);
	is_current(tk_context);
}

static void primary(void)
{
	CUcontext c = NULL;

	SAY(cuDevicePrimaryCtxRetain, &c, 1);
	SAY(cuCtxSetCurrent, c);
	use();
	SAY(cuDevicePrimaryCtxRetain, &c, 1);
	SAY(cuDevicePrimaryCtxRelease, 1);
	use();
	SAY(cuCtxEnablePeerAccess, tk_context, 0);
	SAY(cuCtxEnablePeerAccess, tk_context, 0);
	SAY(cuDevicePrimaryCtxReset, 1);
	SAY(cuCtxSetCurrent, tk_context);
	SAY(cuDevicePrimaryCtxRelease_v2, 1);
	SAY(cuDevicePrimaryCtxRetain, &c, 1);
	SAY(cuCtxSetCurrent, c);
	use();
	SAY(cuCtxSetCurrent, tk_context);
	SAY(cuDevicePrimaryCtxReset_v2, 1);
	SAY(cuDevicePrimaryCtxRelease_v2, 1);
	SAY(cuDevicePrimaryCtxRelease_v2, 1);
}

/* By pointers: older drivers lack them. */
static void green(void)
{
	PFN_cuDeviceGetDevResource_v12040 get;
	PFN_cuDevResourceGenerateDesc_v12040 describe;
	PFN_cuGreenCtxCreate_v12040 create;
	CUdevResource resource;
	CUdevResourceDesc desc;
	CUgreenCtx c;

	*(void **)&get = dlsym(RTLD_DEFAULT, "cuDeviceGetDevResource");
	*(void **)&describe = dlsym(RTLD_DEFAULT, "cuDevResourceGenerateDesc");
	*(void **)&create = dlsym(RTLD_DEFAULT, "cuGreenCtxCreate");
	if (!get || !describe || !create)
		return;
	CK(get(tk_device, &resource, CU_DEV_RESOURCE_TYPE_SM));
	CK(describe(&desc, &resource, 1));
	CK(create(&c, desc, tk_device, CU_GREEN_CTX_DEFAULT_STREAM));
	SAY(cuGreenCtxDestroy, c);
}

static void found(void)
{
	CUdriverProcAddressQueryResult status = 7;
	void *f = NULL;

	SAY(cuInit, 0);
	SAY(cuInit, 1);
	SAY(cuGetProcAddress, "cuMemAlloc", &f, 11080, 0);
	printf("hook of cuMemAlloc: %d\n", f == (void *)hook_cuMemAlloc_v2);
	SAY(cuGetProcAddress, "cuNothing", &f, 11080, 0);
	SAY(cuGetProcAddress_v2, "cuMemcpy", &f, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status);
	printf("hook of cuMemcpy: %d, status %d\n", f == (void *)hook_cuMemcpy_ptds, (int)status);
	SAY(cuGetProcAddress_v2, "cuNothing", &f, 12000, 0, &status);
	printf("status %d\n", (int)status);
}

static void calls(void)
{
	made();
	primary();
	green();
	found();
}

int main(void)
{
	int devices = tk_init();

	if (devices < 2)
		tk_skip("one device only");
	tk_start();
	every_way(calls);
}
