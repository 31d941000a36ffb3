/*
 * dlsym, interposed.
 *
 * The exported symbol (dlsym_entry.S) asks gmod_dlsym_target() for a replacement and otherwise jumps to the next
 * dlsym with the caller's return address still on the stack, so that RTLD_NEXT and RTLD_DEFAULT mean what the
 * caller means by them. Everything here may run before any constructor of this library, inside the dynamic
 * loader's own start-up and in sanitizer runtimes that are not ready yet.
 */
#ifndef GMOD_LIB_DLSYM_HOOK_H
#define GMOD_LIB_DLSYM_HOOK_H

typedef void *(*gmod_dlsym_fn)(void *handle, const char *symbol);

/* The next dlsym itself; NULL in a process whose C library has none (statically linked: then we are not loaded). */
gmod_dlsym_fn gmod_get_next_dlsym(void);

/* The next dlsym behind ours (libc's, or another interposer's), called as this library. */
void *gmod_next_dlsym(void *handle, const char *symbol);

#endif
