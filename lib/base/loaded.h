/*
 * What is loaded in this process, by the loader's list. A walk takes the loader's lock, of which glibc gives a forked
 * child the state that it had: so fork() waits for walks, a tenth of a second at most, and a child of fork() walks only
 * where it must.
 */
#ifndef GMOD_LIB_BASE_LOADED_H
#define GMOD_LIB_BASE_LOADED_H

#include <link.h>
#include <stdbool.h>

/* dl_iterate_phdr(). Any thread may call it, also inside a call of the loader's. */
int gmod_loaded_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *arg), void *arg);

/* This process was forked from one that had the library, and has not become another program. */
bool gmod_is_forked(void);

#endif
