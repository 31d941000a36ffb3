/*
 * dlsym, interposed.
 *
 * The exported symbol (dlsym_entry.S) asks gmod_dlsym_target() for a replacement and otherwise jumps to the next
 * dlsym with the caller's return address still on the stack, so that RTLD_NEXT and RTLD_DEFAULT mean what the
 * caller means by them. Everything here may run before any constructor of this library, inside the dynamic
 * loader's own start-up and in sanitizer runtimes that are not ready yet.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/phase.h"
#include "lib/driver/dlsym_next.h"
#include "lib/driver/driver.h"
#include "lib/driver/homonyms.h"

/*
 * Is what `handle` has under this name the driver's, so that the hook stands in for it?
 *
 * RTLD_DEFAULT finds our own exports, unless another interposer is in front of us. A handle may belong to something
 * else that defines a driver name (a stub, another vendor's shim): only the pointer we call ourselves is replaced, or
 * any from libcuda's own handle, where another interposer may have answered with a function it does not export.
 */
static bool is_drivers(void *handle, const char *symbol, const void *hook)
{
	void *real = gmod_next_dlsym(handle, symbol), *libcuda;

	if (!real)
		return false;
	if (gmod_hook_of(real) || real == hook)
		return true;
	libcuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (libcuda)
		dlclose(libcuda);
	return libcuda && libcuda == handle;
}

/* As if we were not there: what is behind us, or nothing, and dlerror() says so. */
static void *not_there(void *handle, const char *symbol)
{
	(void)handle;
	return gmod_libc_dlsym(RTLD_NEXT, symbol);
}

/* Without a driver, or with one that is older than the name, our export must not show. */
static bool driver_has(const char *symbol)
{
	return gmod_driver_resolve() && gmod_next_of_symbol(symbol);
}

static const struct link_map *map_of(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/*
 * In the loader's list, which is the order of its search. a may be NULL: generated code counts as the program's, which
 * is first. b is ours or in front of us, so it was there at the start, like all that is in front of it, and stays.
 */
static bool comes_before(const struct link_map *a, const struct link_map *b)
{
	const struct link_map *m = b;

	while (m && m->l_prev && m != a)
		m = m->l_prev;
	return m && m != b && (m == a || !a);
}

/* Would the next dlsym answer with our own export? */
static bool finds_our_export(void *handle, const char *symbol, const void *hook, const void *caller)
{
	const void *first;

	if (handle != RTLD_NEXT)
		return gmod_next_dlsym(handle, symbol) == hook;
	if (!comes_before(map_of(caller), map_of(hook)))
		return false;
	first = gmod_libc_dlsym(RTLD_DEFAULT, symbol);
	return first == hook || !comes_before(map_of(caller), map_of(first));
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

/* UCX's memory hooks write a jump over what they find. The driver's begins as they expect it, and is called by ours. */
static bool writes_over(const void *caller)
{
	Dl_info asking;

	return dladdr(caller, &asking) && strstr(asking.dli_fname, "/libucm");
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
	void *hook = symbol ? gmod_hook_by_symbol(symbol) : NULL;

	*jump_to = gmod_get_next_dlsym();
	gmod_homonyms_look(hook != NULL);
	if (!hook)
		return NULL;
	if (!driver_has(symbol) || writes_over(caller)) {
		if (finds_our_export(handle, symbol, hook, caller))
			*jump_to = not_there;
		return NULL;
	}
	if (handle == RTLD_NEXT || gmod_secure() || !is_drivers(handle, symbol, hook) ||
	    asks_for_what_it_wraps(caller, symbol))
		return NULL;
	return hook;
}
