#include "lib/driver/dlsym_next.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(gmod_dlsym_fn) next_dlsym, libc_dlsym;

/* dlsym's version differs by C library: 2.34 moved it into libc.so.6, where the old one stays as a compatible alias. */
static gmod_dlsym_fn versioned_dlsym(void *handle)
{
	static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};
	gmod_dlsym_fn found = NULL;

	for (unsigned i = 0; !found && i < sizeof(versions) / sizeof(versions[0]); i++)
		found = (gmod_dlsym_fn)dlvsym(handle, "dlsym", versions[i]);
	return found;
}

/*
 * Another interposer may export these versions, too; the C library's is where dlvsym is. The library is
 * opened only in that case, because a sanitizer's runtime that is not ready cannot take the call.
 */
static gmod_dlsym_fn find_libc_dlsym(void)
{
	gmod_dlsym_fn found = versioned_dlsym(RTLD_NEXT);
	Dl_info theirs, libc;

	/* Now: a dladdr of somebody else's may look for the next one by dlsym, and that comes back to here. */
	atomic_store_explicit(&libc_dlsym, found, memory_order_release);
	if (dladdr((void *)found, &theirs) && dladdr((void *)dlvsym, &libc) && theirs.dli_fbase != libc.dli_fbase)
		found = versioned_dlsym(dlopen(libc.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
	return found;
}

/* Whatever its version. */
static gmod_dlsym_fn find_next_dlsym(void)
{
	return (gmod_dlsym_fn)gmod_libc_dlsym(RTLD_NEXT, "dlsym");
}

static gmod_dlsym_fn found_once(_Atomic(gmod_dlsym_fn) *kept, gmod_dlsym_fn (*find)(void))
{
	gmod_dlsym_fn fn = atomic_load_explicit(kept, memory_order_acquire);

	if (!fn) {
		fn = find();
		atomic_store_explicit(kept, fn, memory_order_release);
	}
	return fn;
}

gmod_dlsym_fn gmod_get_next_dlsym(void)
{
	return found_once(&next_dlsym, find_next_dlsym);
}

/* No tail call, which would make this library's caller the one that asks. */
static void *ask(gmod_dlsym_fn fn, void *handle, const char *symbol)
{
	void *volatile found = fn ? fn(handle, symbol) : NULL;

	return found;
}

void *gmod_next_dlsym(void *handle, const char *symbol)
{
	return ask(gmod_get_next_dlsym(), handle, symbol);
}

void *gmod_libc_dlsym(void *handle, const char *symbol)
{
	return ask(found_once(&libc_dlsym, find_libc_dlsym), handle, symbol);
}
