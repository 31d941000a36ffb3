// expect: heap-buffer-overflow size 4000 offset +0 in make_by_pointer
// suspect: k_flip
/* A program that is not linked with the driver: dlopen and dlsym, as most frameworks do. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define CK(call) \
	do { \
		if ((call) != CUDA_SUCCESS) { \
			fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call); \
			exit(3); \
		} \
	} while (0)

static void *driver;

static void *symbol(const char *name)
{
	void *p = dlsym(driver, name);

	if (!p) {
		fprintf(stderr, "the driver has no %s\n", name);
		exit(3);
	}
	return p;
}

#define DRIVER(result, name, ...) ((result(*)(__VA_ARGS__))symbol(name))

__attribute__((noinline, visibility("default"))) CUdeviceptr make_by_pointer(size_t size)
{
	CUdeviceptr p;

	CK(DRIVER(CUresult, "cuMemAlloc_v2", CUdeviceptr *, size_t)(&p, size));
	return p;
}

int main(void)
{
	long long off = 4000, count = 1;
	CUcontext context;
	CUmodule module;
	CUfunction f;
	CUdeviceptr p;
	typeof(&cuLaunchKernel) launch;

	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!driver || !getenv("GMOD_TEST_KERNELS")) {
		fprintf(stderr, "skipped: no driver, or no kernels\n");
		return 77;
	}
	CK(DRIVER(CUresult, "cuInit", unsigned)(0));
	CK(DRIVER(CUresult, "cuDevicePrimaryCtxRetain", CUcontext *, CUdevice)(&context, 0));
	CK(DRIVER(CUresult, "cuCtxSetCurrent", CUcontext)(context));
	CK(DRIVER(CUresult, "cuModuleLoad", CUmodule *, const char *)(&module, getenv("GMOD_TEST_KERNELS")));
	CK(DRIVER(CUresult, "cuModuleGetFunction", CUfunction *, CUmodule, const char *)(&f, module, "k_flip"));
	launch = symbol("cuLaunchKernel");
	p = make_by_pointer(4000);
	CK(launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, ((void *[]){&p, &off, &count}), NULL));
	CK(DRIVER(CUresult, "cuCtxSynchronize", void)());
	CK(DRIVER(CUresult, "cuMemFree_v2", CUdeviceptr)(p));
	return 0;
}
