/*
 * Memory in stream order under backend=fence: each buffer has a block of its own (lib/buffers/fence.h).
 *
 *     fence_take ──► a buffer's ──freed in a stream──► KEPT, by its pool and its size ──► a buffer's
 *                                                       │
 *                                                       └── memory is asked for, and it is proven: unmapped
 *
 * The host frees while the device is still to use the block, and nothing waits. A KEPT block goes to the next buffer of
 * the same stream at once, for what the stream does then comes behind what it has done. To anybody else it goes, or is
 * unmapped, only once the program's own waits have proven that the stream has come past the free
 * (monitor/launches/proof.h). A thread's own stream has no name that another thread's may not have later, and a
 * destroyed stream's name may be a new one's: such a block has no stream, and only a wait for the context proves it.
 * cuMemFree names no stream either, and the program has waited for what it frees so: there it is enough that no launch
 * is outstanding.
 *
 * Natively a free is work in its stream, which the legacy stream joins to others; one byte of the block is filled there
 * instead. A non-blocking stream joins none, and nothing goes into it.
 *
 * Left to the driver, and to lib/buffers/ordered.h, is what needs the driver's own memory or must have no fence: while
 * a capture is open, pools that are exported, of another device, or unknown, devices that let peers in, and what a
 * library allocates that shares memory. A pool that a program opens to a peer lets that in to the device.
 *
 * The pool is told as natively: what it uses, what it has reserved, its handle. Memory of a pool is of no context. It
 * goes with the device's primary context if it was allocated there.
 */
#ifndef GMOD_LIB_BUFFERS_TENSORS_H
#define GMOD_LIB_BUFFERS_TENSORS_H

#include "lib/buffers/ordered.h"
#include "lib/context/teardown.h"

/* A fenced one, in *out. false: it gets none, and nothing has happened. */
bool gmod_tensors_alloc(const struct gmod_ordered_request *q, CUdeviceptr *out);

bool gmod_is_tensor(const struct gmod_record *r);
/* NULL: it has been destroyed. */
CUmemoryPool gmod_tensor_pool(const struct gmod_record *r);

/* found is a tensor. in: NULL for cuMemFree. */
CUresult gmod_tensors_free(const struct gmod_found *found, const struct gmod_order *in, const char *entry_point);

/* The stream is about to be destroyed. */
void gmod_tensors_stream_ends(uint64_t key);

/* All blocks of the device that are nobody's and proven go, also those of lib/buffers/fence.h. true: there were some.
 */
bool gmod_tensors_give_way(int device);
/*
 * The same where an allocation has failed, NULL: on the current device; what cudaMemGetInfo called free is there then.
 * Rather than that it fails, the current context's work is waited for.
 */
bool gmod_tensors_make_room(const CUmemAllocationProp *asked);
/* Of the pool, until it has reserved no more than so many bytes. */
void gmod_tensors_trim(CUmemoryPool pool, uint64_t keep);
/*
 * Before the program asks: as natively since its latest wait, pools have no more than their release threshold. That is
 * kept here: the driver must not be asked about a pool that another thread may just destroy.
 */
void gmod_tensors_settle(void);

/* A pool of the device is there, and is gone. */
void gmod_tensors_pool_made(CUmemoryPool pool, int device);
void gmod_tensors_pool_ends(CUmemoryPool pool);
/* It may be used by that device: its own lets that in. */
void gmod_tensors_let_in(CUmemoryPool pool, int reader);

/* What to add to the driver's answer; 0 for an attribute that is no sum. */
uint64_t gmod_tensors_sum(CUmemoryPool pool, CUmemPool_attribute attribute);
/* The program has set that: a high mark, which goes back, or the release threshold. */
void gmod_tensors_set(CUmemoryPool pool, CUmemPool_attribute attribute, const void *value);

extern const struct gmod_context_listener gmod_tensors_of_context;

#endif
