/* Which pools' memory is guarded in stream order (lib/buffers/ordered.h). pool: NULL for the device's current one. */
#ifndef GMOD_LIB_BUFFERS_ORDERED_POOL_H
#define GMOD_LIB_BUFFERS_ORDERED_POOL_H

#include "lib/context/context.h"

/* A pool whose memory other processes may import, or which is not of a device, is left alone. */
void gmod_pool_made(CUmemoryPool pool, bool left_alone);

/* Others may have its memory, or it has none of a device; or so many pools are such that nobody can tell. */
bool gmod_pool_may_be_exported(const struct gmod_context *c, CUmemoryPool pool);

/* A pool may be of a device whose memory this one does not reach. */
bool gmod_pool_reaches(const struct gmod_context *c, CUmemoryPool pool);

/* Of whatever pool. In managed and host memory the CPU writes too, and calls are allowed that device memory refuses. */
bool gmod_pool_gave_device_memory(CUdeviceptr at);

#endif
