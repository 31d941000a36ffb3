/* Names of the API that stand for something else in this process. */
#ifndef GMOD_LIB_DRIVER_HOMONYMS_H
#define GMOD_LIB_DRIVER_HOMONYMS_H

#include <stdbool.h>

/*
 * The loader binds a library's reference to its own data to our export, where that is called like one of the driver's
 * entry points: function pointers named cuInit and so on. Both functions lead such references back, the first in all
 * that is loaded when the process starts, the second in what has come since. The first also makes weak references NULL
 * where there is no driver: nobody else exports the name then.
 *
 * The second may be called from any thread, as often as one likes. Before the first it does nothing unless `anyhow`:
 * a sanitizer's runtime may not be ready. Both take the loader's lock.
 */
void gmod_homonyms_start(void);
void gmod_homonyms_look(bool anyhow);

#endif
