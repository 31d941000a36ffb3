/*
 * Looks every entry point up in every way, and says which library had it. Not linked with the driver: it is loaded
 * where an argument asks for it, for all to see.
 *
 *	lookups			without a driver
 *	lookups driver		with one
 *	lookups old		with old_driver.c, part of which is called
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define NAME(symbol, base, version, flavour) #symbol,
#define GMOD_HOOK NAME
#define GMOD_PLAIN NAME
#define GMOD_CALL NAME
#include "lib/driver/entrypoints.def"
#include "tests/sim/plain.def"
    "cuNothing",
};

/* Of a plugin, if one is preloaded: what that library finds behind itself. */
static void *(*plugin_next)(const char *name);

static void say(const char *way, const char *name, void *found)
{
	Dl_info info = {.dli_fname = "?"};
	const char *error = dlerror(), *slash;

	if (!found != !!error)
		printf("%s %s: found: %d, dlerror: %s\n", way, name, !!found, error ? error : "-");
	if (!found)
		return;
	dladdr(found, &info);
	slash = strrchr(info.dli_fname, '/');
	printf("%s %s: %s\n", way, name, slash ? slash + 1 : info.dli_fname);
}

/* Each call by itself: the library finds out who calls by the return address. */
static void look_up(const char *name, void *program, void *driver)
{
	void *p = dlsym(RTLD_DEFAULT, name);

	say("default", name, p);
	p = dlsym(RTLD_NEXT, name);
	say("next", name, p);
	p = dlsym(program, name);
	say("program", name, p);
	if (driver) {
		p = dlsym(driver, name);
		say("driver", name, p);
	}
	if (plugin_next)
		say("plugin, next", name, plugin_next(name));
}

static void call_old_driver(void *driver)
{
	CUresult (*get)(const char *, void **, int, cuuint64_t);
	CUresult (*init)(unsigned);
	CUresult (*create)(CUcontext *, unsigned, CUdevice);
	CUresult (*alloc)(CUdeviceptr *, size_t);
	CUresult (*release)(CUdeviceptr);
	CUcontext context = NULL;
	CUdeviceptr p = 0;
	void *none = &none;

	*(void **)&get = dlsym(driver, "cuGetProcAddress");
	printf("itself: %d\n", get("cuGetProcAddress", (void **)&get, 13000, 0));
	printf("cuInit: %d\n", get("cuInit", (void **)&init, 13000, 0));
	printf("... %d\n", init(0));
	printf("cuCtxCreate: %d\n", get("cuCtxCreate", (void **)&create, 13000, 0));
	printf("... %d\n", create(&context, 0, 0));
	printf("cuMemAlloc: %d\n", get("cuMemAlloc", (void **)&alloc, 13000, 0));
	printf("... %d\n", alloc(&p, 1000));
	printf("cuMemFree: %d\n", get("cuMemFree", (void **)&release, 13000, 0));
	printf("... %d\n", release(p));
	printf("cuMemAllocAsync: %d\n", get("cuMemAllocAsync", &none, 13000, 0));
	printf("... %d\n", none != NULL);
}

int main(int argc, char **argv)
{
	void *driver = argc > 1 ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) : NULL,
	     *program = dlopen(NULL, RTLD_NOW);

	if (argc > 1 && !driver) {
		puts(dlerror());
		return 3;
	}
	*(void **)&plugin_next = dlsym(RTLD_DEFAULT, "plugin_next");
	dlerror();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		look_up(names[i], program, driver);
	if (argc > 1 && !strcmp(argv[1], "old"))
		call_old_driver(driver);
	return 0;
}
