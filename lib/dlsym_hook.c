#include "lib/dlsym_hook.h"

#include <dlfcn.h>
#include <stddef.h>

#include "lib/driver.h"
#include "lib/process.h"

/*
 * The hook for what `handle` has under this name, NULL if it is not the driver's.
 *
 * RTLD_DEFAULT finds our own exports first, also in a process that has no CUDA at all: what was not there without us
 * must not be there with us, so the driver has to be loaded. A handle may belong to something else that defines a
 * driver name (a stub, another vendor's shim): only the pointer we call ourselves is replaced, or any from libcuda's
 * own handle, where another interposer may have answered with a function it does not export.
 */
static void *hook_for(void *handle, const char *symbol)
{
	void *hook = gmod_hook_by_symbol(symbol);
	void *real, *libcuda;

	if (!hook || !gmod_driver_resolve())
		return NULL;
	if (handle == RTLD_DEFAULT)
		return hook;
	real = gmod_next_dlsym(handle, symbol);
	if (!real)
		return NULL;
	if (gmod_hook_of(real) || real == hook)
		return hook;
	libcuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (libcuda)
		dlclose(libcuda);
	return libcuda == handle ? hook : NULL;
}

/* As if we were not there: nothing behind us has the name, and dlerror() says so. */
static void *not_there(void *handle, const char *symbol)
{
	(void)handle;
	return gmod_next_dlsym(RTLD_NEXT, symbol);
}

/* A driver name, in a process that has no driver: whatever is found would be our own export. */
static bool only_ours(const char *symbol)
{
	return gmod_hook_by_symbol(symbol) && !gmod_driver_resolve();
}

/*
 * Another interposer, loaded behind us, that looks up what it wraps: given our hook, which calls it, it would call
 * itself for ever.
 */
static bool asks_for_what_it_wraps(const void *caller, const char *symbol)
{
	const void *next = gmod_next_of_symbol(symbol);
	Dl_info wrapper, asking;

	return next && dladdr(next, &wrapper) && dladdr(caller, &asking) && wrapper.dli_fbase == asking.dli_fbase;
}

/*
 * Called from dlsym_entry.S. Returns our hook, or NULL with *jump_to set to the dlsym that shall answer.
 *
 * RTLD_NEXT always goes on: it then finds our export or what stands behind the caller, as the caller means it. A
 * name the handle does not have goes on too, so that dlerror() says what it would say without us.
 */
__attribute__((visibility("hidden"))) void *gmod_dlsym_target(void *handle, const char *symbol, gmod_dlsym_fn *jump_to,
							      const void *caller)
{
	void *hook = NULL;

	if (symbol && handle != RTLD_NEXT && !gmod_secure())
		hook = hook_for(handle, symbol);
	if (hook && !asks_for_what_it_wraps(caller, symbol))
		return hook;
	*jump_to = symbol && only_ours(symbol) ? not_there : gmod_get_next_dlsym();
	return NULL;
}
