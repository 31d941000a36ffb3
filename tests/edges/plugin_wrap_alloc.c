/*
 * Another interposer of the driver, as some profilers are: it exports cuMemAlloc_v2 and cuLaunchKernel and passes on to
 * whatever comes next. With PLUGIN_HOOKS_DLSYM it hooks dlsym too, and hands its own out there. Says at the end how
 * often it was called.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static atomic_int allocs, launches;

#ifdef PLUGIN_HOOKS_DLSYM
static void *next_dlsym(void *handle, const char *name)
{
	static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};
	static void *(*real)(void *, const char *);

	for (size_t i = 0; !real && i < sizeof(versions) / sizeof(*versions); i++)
		*(void **)&real = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	return real(handle, name);
}
#else
#define next_dlsym dlsym
#endif

/* The next one in the global scope, or the driver itself where it was loaded privately, or where that is asked for. */
static void *next(const char *name)
{
	void *p = getenv("PLUGIN_IN_HANDLE") ? NULL : next_dlsym(RTLD_NEXT, name);

	return p ? p : next_dlsym(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), name);
}

EXPORTED CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t size)
{
	static CUresult (*real)(CUdeviceptr *, size_t);

	if (!real)
		*(void **)&real = next("cuMemAlloc_v2");
	atomic_fetch_add(&allocs, 1);
	return real(p, size);
}

EXPORTED CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
				 unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
	static __typeof__(&cuLaunchKernel) real;

	if (!real)
		*(void **)&real = next("cuLaunchKernel");
	atomic_fetch_add(&launches, 1);
	return real(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

/* For lookups.c: what stands behind this library. No tail call: dlsym looks at the return address. */
EXPORTED void *plugin_next(const char *name)
{
	void *volatile found = next_dlsym(RTLD_NEXT, name);

	return found;
}

#ifdef PLUGIN_HOOKS_DLSYM
EXPORTED void *dlsym(void *handle, const char *name)
{
	void *real = next_dlsym(handle, name);

	if (real && handle != RTLD_NEXT && !strcmp(name, "cuMemAlloc_v2"))
		return (void *)cuMemAlloc_v2;
	if (real && handle != RTLD_NEXT && !strcmp(name, "cuLaunchKernel"))
		return (void *)cuLaunchKernel;
	return real;
}
#endif

static void __attribute__((destructor)) say(void)
{
	printf("plugin: %s\n", atomic_load(&launches) ? "launches seen" : "no launch seen");
}
