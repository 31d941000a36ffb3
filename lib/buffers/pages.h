/* Pages of our own that the device reads and writes. */
#ifndef GMOD_LIB_BUFFERS_PAGES_H
#define GMOD_LIB_BUFFERS_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/driver/driver.h"

/* Zeros, `size` bytes, that no forked child has: a copy would take them from under the device. NULL: no memory. */
void *gmod_pages(size_t size);

/* In the current context, also where they are still registered by one that is gone. */
bool gmod_pages_register(void *pages, size_t size, unsigned flags);

#endif
