/*
 * A driver of CUDA 11.3 that lacks most entry points (lookups.c). What cuGetProcAddress hands out for two names is not
 * what is exported.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

CUresult cuInit(unsigned int flags)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = 11030;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = (CUcontext)(uintptr_t)0x1000;
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	(void)flags;
	*context = (CUcontext)(uintptr_t)0x1000;
	return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t size)
{
	*p = (CUdeviceptr)(uintptr_t)malloc(size);
	return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
	free((void *)(uintptr_t)p);
	return CUDA_SUCCESS;
}

static CUresult create_context(CUcontext *context, unsigned int flags, CUdevice device)
{
	return cuCtxCreate_v2(context, flags, device);
}

static CUresult get_proc_address(const char *symbol, void **p, int version, cuuint64_t flags)
{
	return cuGetProcAddress(symbol, p, version, flags);
}

CUresult cuGetProcAddress(const char *symbol, void **p, int version, cuuint64_t flags)
{
	static const struct {
		const char *name;
		void *function;
	} table[] = {
	    {"cuInit", (void *)cuInit},
	    {"cuCtxCreate", (void *)create_context},
	    {"cuGetProcAddress", (void *)get_proc_address},
	    {"cuMemAlloc", (void *)cuMemAlloc_v2},
	    {"cuMemFree", (void *)cuMemFree_v2},
	};

	*p = NULL;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]) && version >= 3020 && !flags; i++)
		if (!strcmp(table[i].name, symbol))
			*p = table[i].function;
	return *p ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
