/* The dlsym behind ours: libc's, or another interposer's. */
#ifndef GMOD_LIB_DRIVER_DLSYM_NEXT_H
#define GMOD_LIB_DRIVER_DLSYM_NEXT_H

typedef void *(*gmod_dlsym_fn)(void *handle, const char *symbol);

/* The function itself; NULL in a process whose C library has none (statically linked: then we are not loaded). */
gmod_dlsym_fn gmod_get_next_dlsym(void);

/* Called as this library. */
void *gmod_next_dlsym(void *handle, const char *symbol);

#endif
