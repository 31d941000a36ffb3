/*
 * Function pointers with the names of the API, as cuew and older loaders of NVIDIA's define them: filled by dlsym, from
 * the driver that is loaded for it.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#define EXPORTED __attribute__((visibility("default")))
#define POINTERS(each) \
	each(cuInit, (unsigned)) each(cuDevicePrimaryCtxRetain, (void **, int)) each(cuCtxSetCurrent, (void *)) \
	    each(cuMemAlloc_v2, (unsigned long long *, size_t)) each(cuMemFree_v2, (unsigned long long))

#define DEFINE(name, arguments) EXPORTED int(*name) arguments;
POINTERS(DEFINE)

/* Another reference to one of them. */
EXPORTED void *const plugin_pointer = &cuInit;

EXPORTED int plugin_use_pointers(void)
{
	void *context = NULL, *driver = dlopen("libcuda.so.1", RTLD_NOW);
	unsigned long long p = 0;
	int failed;

	printf("before: %s\n", cuInit ? "something" : "nothing");
	if (!cuInit) {
#define FILL(name, arguments) *(void **)&name = dlsym(driver, #name);
		POINTERS(FILL)
	}
	printf("one place: %d\n", *(void **)plugin_pointer == (void *)cuInit);
	failed = cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
		 cuMemAlloc_v2(&p, 4000) || cuMemFree_v2(p);
	printf("used: %s\n", failed ? "and failed" : "well");
	return failed;
}
