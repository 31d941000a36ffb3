/*
 * A driver that does nothing, at once: every entry point of lib/driver/entrypoints.def succeeds. What a call through
 * GMOD costs over the same call without it is then the hook and nothing else (figure_launch_cost.c).
 *
 * nullcuda_names.c defines all names weakly and lists them; here are the ones that have something to answer.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nullcuda.h"

/* Handles of things that do not exist. */
#define HANDLE(n) ((void *)(uintptr_t)(0x1000 * (n)))

CUresult cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	(void)attribute, (void)device;
	*value = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
	(void)device;
	strncpy(name, "nothing", (size_t)size);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	(void)device;
	*context = HANDLE(1);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
	(void)device;
	*flags = 0;
	*active = 1;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = HANDLE(1);
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	(void)context;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
	(void)context;
	*id = 1;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	(void)flags;
	*stream = HANDLE(2);
	return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
	(void)priority;
	return cuStreamCreate(stream, flags);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	(void)stream;
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	(void)stream;
	*context = HANDLE(1);
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	(void)flags;
	*event = HANDLE(3);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	(void)image;
	*module = HANDLE(4);
	return CUDA_SUCCESS;
}

/* Every module has kernels "NxBYTES", of so many parameters of so many bytes each, and others of these: "NxBYTES.7". */
static struct kernel {
	unsigned count, size, number;
} kernels[1024];
static unsigned kernel_count;

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	struct kernel *k = &kernels[kernel_count];

	(void)module;
	if (kernel_count == sizeof(kernels) / sizeof(kernels[0]) ||
	    sscanf(name, "%ux%u.%u", &k->count, &k->size, &k->number) < 2)
		return CUDA_ERROR_NOT_FOUND;
	kernel_count++;
	*function = (CUfunction)k;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t i, size_t *offset, size_t *size)
{
	const struct kernel *k = (const struct kernel *)function;

	if (i >= k->count)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = i * k->size;
	*size = k->size;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t i, size_t *offset, size_t *size)
{
	return cuFuncGetParamInfo((CUfunction)kernel, i, offset, size);
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
	(void)function;
	*name = "nothing";
	return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
	(void)kernel;
	*name = "nothing";
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	*free_bytes = *total = (size_t)1 << 34;
	return CUDA_SUCCESS;
}

static CUresult host_memory(void **p, size_t size)
{
	if (size == 0 || posix_memalign(p, 4096, size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t size)
{
	return host_memory((void **)p, size);
}

CUresult cuMemAllocManaged(CUdeviceptr *p, size_t size, unsigned int flags)
{
	(void)flags;
	return host_memory((void **)p, size);
}

CUresult cuMemHostAlloc(void **p, size_t size, unsigned int flags)
{
	(void)flags;
	return host_memory(p, size);
}

CUresult cuMemAllocHost_v2(void **p, size_t size)
{
	return host_memory(p, size);
}

CUresult cuMemFreeHost(void *p)
{
	free(p);
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr p)
{
	(void)data, (void)attribute, (void)p;
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	(void)error;
	*name = "nothing";
	return CUDA_SUCCESS;
}

/* The newest ABI of `symbol` that is not newer than version, in the flavour that flags ask for. */
static void *find(const char *symbol, int version, cuuint64_t flags)
{
	const struct null_name *best = NULL;

	for (const struct null_name *n = null_names; n->base; n++) {
		if (strcmp(n->base, symbol) || n->version > version)
			continue;
		if (n->flavour[0] && !(flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
			continue;
		if (!best || n->version >= best->version)
			best = n;
	}
	return best ? best->address : NULL;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **p, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *result)
{
	*p = find(symbol, version, flags);
	if (result)
		*result = *p ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *p ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **p, int version, cuuint64_t flags)
{
	return cuGetProcAddress_v2(symbol, p, version, flags, NULL);
}
