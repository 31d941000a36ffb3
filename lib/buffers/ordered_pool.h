/* Which pools' memory is guarded in stream order (lib/buffers/ordered.h). pool: NULL for the device's current one. */
#ifndef GMOD_LIB_BUFFERS_ORDERED_POOL_H
#define GMOD_LIB_BUFFERS_ORDERED_POOL_H

#include "lib/context/context.h"

/*
 * Left alone is a pool whose memory other processes may import, which has none of a device, or which may not grow
 * beyond a size that the program gave: it would hold less with our bytes (measured: of 64 MiB, one buffer of 32 MiB and
 * 512 B).
 */
void gmod_pool_made(CUmemoryPool pool, bool leave_alone);

/* Before the driver may give its handle to another one. true: it was left alone. */
bool gmod_pool_ends(CUmemoryPool pool);

/* Also true since so many were left alone at a time that nobody can tell. */
bool gmod_pool_is_left_alone(const struct gmod_context *c, CUmemoryPool pool);

/* A pool may be of a device whose memory this one does not reach. */
bool gmod_pool_reaches(const struct gmod_context *c, CUmemoryPool pool);

/* 0, as a new pool has it, where the driver does not say. */
uint64_t gmod_pool_threshold(CUmemoryPool pool);

/* Of whatever pool. In managed and host memory the CPU writes too, and calls are allowed that device memory refuses. */
bool gmod_pool_gave_device_memory(CUdeviceptr at);

#endif
