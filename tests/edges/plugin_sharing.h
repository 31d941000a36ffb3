/*
 * What libraries that share a GPU between containers do: they wrap some of the driver, find the driver itself by the C
 * library's dlsym, past whoever else is preloaded, and answer dlsym and cuGetProcAddress. OF_API is put before each
 * function of the driver's. Says at the end, on stderr, how much it has seen.
 */
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static __typeof__(&cuInit) real_init;
static __typeof__(&cuMemAlloc_v2) real_alloc;
static __typeof__(&cuLaunchKernel) real_launch;
static CUresult (*real_get)(const char *, void **, int, cuuint64_t);
static __typeof__(&cuGetProcAddress_v2) real_get_v2;
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;
static int inits, allocs, launches;

static void *real_dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);

	if (!real)
		*(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	return real(handle, name);
}

static void set_up(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY);

	if (!driver)
		return;
	*(void **)&real_init = real_dlsym(driver, "cuInit");
	*(void **)&real_alloc = real_dlsym(driver, "cuMemAlloc_v2");
	*(void **)&real_launch = real_dlsym(driver, "cuLaunchKernel");
	*(void **)&real_get = real_dlsym(driver, "cuGetProcAddress");
	*(void **)&real_get_v2 = real_dlsym(driver, "cuGetProcAddress_v2");
}

OF_API CUresult cuInit(unsigned flags)
{
	pthread_once(&set_up_once, set_up);
	inits++;
	return real_init ? real_init(flags) : CUDA_ERROR_NO_DEVICE;
}

OF_API CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t size)
{
	allocs++;
	return real_alloc ? real_alloc(p, size) : CUDA_ERROR_NOT_INITIALIZED;
}

OF_API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
			       unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
	launches++;
	return real_launch ? real_launch(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra)
			   : CUDA_ERROR_NOT_INITIALIZED;
}

static void *wrapper_of(const char *symbol, int versioned);

OF_API CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	pthread_once(&set_up_once, set_up);
	*pfn = wrapper_of(symbol, 0);
	return *pfn ? CUDA_SUCCESS : real_get(symbol, pfn, version, flags);
}

OF_API CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
				    CUdriverProcAddressQueryResult *status)
{
	pthread_once(&set_up_once, set_up);
	*pfn = wrapper_of(symbol, 0);
	if (*pfn && !strcmp(symbol, "cuGetProcAddress") && version >= 12000)
		*pfn = (void *)&cuGetProcAddress_v2;
	if (*pfn && status)
		*status = CU_GET_PROC_ADDRESS_SUCCESS;
	return *pfn ? CUDA_SUCCESS : real_get_v2(symbol, pfn, version, flags, status);
}

/* By the name of the symbol, or of what cuGetProcAddress is asked for. */
static void *wrapper_of(const char *symbol, int versioned)
{
	if (!strcmp(symbol, "cuInit"))
		return (void *)&cuInit;
	if (!strcmp(symbol, versioned ? "cuMemAlloc_v2" : "cuMemAlloc"))
		return (void *)&cuMemAlloc_v2;
	if (!strcmp(symbol, "cuLaunchKernel"))
		return (void *)&cuLaunchKernel;
	if (!strcmp(symbol, "cuGetProcAddress"))
		return (void *)&cuGetProcAddress;
	if (!strcmp(symbol, "cuGetProcAddress_v2"))
		return (void *)&cuGetProcAddress_v2;
	return NULL;
}

static void __attribute__((destructor)) say(void)
{
	fprintf(stderr, "plugin: inits %s, launches %s\n", inits ? "seen" : "unseen", launches ? "seen" : "unseen");
}
