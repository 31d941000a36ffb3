/*
 * Functions with the names of the API, as MegEngine's library for machines without a driver has them: each loads the
 * driver, and finds its own there, when it is called.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#define EXPORTED __attribute__((visibility("default")))

static void *find(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);

	return driver ? dlsym(driver, name) : NULL;
}

#define WRAP(name, parameters, arguments) \
	EXPORTED int name parameters \
	{ \
		int(*real) parameters = NULL; \
\
		*(void **)&real = find(#name); \
		return real ? real arguments : 100; \
	}
WRAP(cuInit, (unsigned flags), (flags))
WRAP(cuDevicePrimaryCtxRetain, (void **context, int device), (context, device))
WRAP(cuCtxSetCurrent, (void *context), (context))
WRAP(cuMemAlloc_v2, (unsigned long long *p, size_t size), (p, size))
WRAP(cuMemFree_v2, (unsigned long long p), (p))

EXPORTED int plugin_use_pointers(void)
{
	unsigned long long p = 0;
	void *context = NULL;
	int r = cuInit(0);

	printf("begun: %d\n", r);
	if (r)
		return 1;
	r = cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAlloc_v2(&p, 4000) ||
	    cuMemFree_v2(p);
	printf("used: %s\n", r ? "and failed" : "well");
	return r;
}
