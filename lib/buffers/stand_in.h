/*
 * Small device buffers are managed memory that stands in for the driver's own (lib/buffers/backend_managed.c). Where
 * the driver treats the two differently and a program could tell, the hooks make up for it; these say where.
 */
#ifndef GMOD_LIB_STAND_IN_H
#define GMOD_LIB_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

/* Is the address inside a guarded device buffer; inside one that is managed memory? */
bool gmod_is_device_buffer(uint64_t address);
bool gmod_stands_in(uint64_t address);

/*
 * A fill of device memory, and a copy between two places in it, returns before it is done; one of managed memory
 * returns after (measured). True where the call is to be made as its asynchronous sibling, in the same stream: a
 * program may be about to tell a kernel ahead of it in that stream to go on. In a capture calls stay what they are.
 */
bool gmod_fill_returns_early(uint64_t address);
bool gmod_copy_returns_early(uint64_t dst, uint64_t src);

/* The driver refused something because the buffer at `address` is managed. Says once, by entry point, what helps. */
void gmod_stand_in_refused(uint64_t address, const char *entry_point);

#endif
