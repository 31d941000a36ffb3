/* The dlsym behind ours: another interposer's, and the C library's. */
#ifndef GMOD_LIB_DRIVER_DLSYM_NEXT_H
#define GMOD_LIB_DRIVER_DLSYM_NEXT_H

typedef void *(*gmod_dlsym_fn)(void *handle, const char *symbol);

/*
 * The function itself: what a program would call without us. NULL in a process whose C library has none (statically
 * linked: then we are not loaded).
 */
gmod_dlsym_fn gmod_get_next_dlsym(void);

/* Called as this library. It may be our own export that comes back, if another library answers with the first there is.
 */
void *gmod_next_dlsym(void *handle, const char *symbol);

/* The same of the C library's, which no other library answers in the place of. */
void *gmod_libc_dlsym(void *handle, const char *symbol);

#endif
