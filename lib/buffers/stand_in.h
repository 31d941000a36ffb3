/*
 * Guarded device buffers stand in for the driver's own, most small ones as managed memory
 * (lib/buffers/backend_managed.c). Where the driver treats them differently and a program could tell, the hooks make up
 * for it; these say where.
 */
#ifndef GMOD_LIB_BUFFERS_STAND_IN_H
#define GMOD_LIB_BUFFERS_STAND_IN_H

#include "lib/driver/driver.h"
#include "monitor/registry/registry.h"

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

/*
 * CU_POINTER_ATTRIBUTE_SYNC_MEMOPS for guarded device buffers: the driver refuses it on mapped ones
 * (lib/buffers/mapped.h). Programs set it before a network adapter uses a buffer: from then on a synchronous copy or
 * fill that touches the buffer has happened when it returns, where natively some return earlier. The hooks of those
 * calls wait for it. false: not a device buffer; the driver's answer stands.
 */
bool gmod_sync_memops_set(struct gmod_record *r, bool on);
bool gmod_sync_memops_is_set(const struct gmod_record *r);

/*
 * Epilogue of every copy and fill; addresses of which 0 stands for none. Waits where the attribute asks for it, for the
 * default stream that a synchronous one is in: CU_STREAM_LEGACY or CU_STREAM_PER_THREAD.
 */
#define GMOD_ASYNC ((CUstream)NULL)
void gmod_sync_memops(CUresult r, uint64_t dst, uint64_t src, CUstream stream);

/* The driver refused something because the buffer at `address` is managed. Says once, by entry point, what helps. */
void gmod_stand_in_refused(uint64_t address, const char *entry_point);

#endif
