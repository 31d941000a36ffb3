#include "lib/driver/dlsym_next.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(gmod_dlsym_fn) next_dlsym;

/* dlsym's version differs by C library: 2.34 moved it into libc.so.6, where the old one stays as a compatible alias. */
static gmod_dlsym_fn find_next_dlsym(void)
{
	static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};
	gmod_dlsym_fn found = NULL;

	for (unsigned i = 0; !found && i < sizeof(versions) / sizeof(versions[0]); i++)
		found = (gmod_dlsym_fn)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	return found;
}

gmod_dlsym_fn gmod_get_next_dlsym(void)
{
	gmod_dlsym_fn fn = atomic_load_explicit(&next_dlsym, memory_order_acquire);

	if (!fn) {
		fn = find_next_dlsym();
		atomic_store_explicit(&next_dlsym, fn, memory_order_release);
	}
	return fn;
}

/* No tail call, which would make this library's caller the one that asks. */
void *gmod_next_dlsym(void *handle, const char *symbol)
{
	gmod_dlsym_fn fn = gmod_get_next_dlsym();
	void *volatile found = fn ? fn(handle, symbol) : NULL;

	return found;
}
