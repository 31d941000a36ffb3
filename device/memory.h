/*
 * The memory of a device heap's chunks: addresses for as many as there may ever be, reserved at first, and device
 * memory from the lower end on as it is asked for.
 *
 *     base                    base + committed                           base + size
 *     │ chunks with memory    │ addresses only ...                       │
 *
 * Mapping more waits for no kernel, and kernels that run can use it at once. A device that cannot map memory has all of
 * it from the start.
 *
 * Not synchronised: its heap's maker has it first, then the guard's lock is held.
 */
#ifndef GMOD_HOST_DEVICE_MEMORY_H
#define GMOD_HOST_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GMOD_MEMORY_PIECES = 32 };

struct gmod_device_memory {
	uint64_t base;          /* a multiple of 2 MiB */
	size_t size, committed; /* bytes */
	uint64_t whole;         /* not mapped: what cuMemAlloc gave, 0 otherwise */
	int device, pieces;
	size_t piece[GMOD_MEMORY_PIECES]; /* bytes; mapped one by one, from the lower end on */
};

/* Addresses for up to `size` bytes, fewer where memory cannot be mapped; false: none. The context is current. */
bool gmod_device_memory_reserve(struct gmod_device_memory *m, int device, size_t size);

/*
 * Have memory for the first `size` bytes, in multiples of 2 MiB; false: there is none, or there have been
 * GMOD_MEMORY_PIECES steps already, and all is as it was.
 */
bool gmod_device_memory_commit(struct gmod_device_memory *m, size_t size);

/* Give all back. Its context is gone, or nothing has been launched that uses it. */
void gmod_device_memory_drop(struct gmod_device_memory *m, bool context_is_gone);

#endif
