/*
 * Small device buffers that are mapped (lib/buffers/mapped.h), and the blocks kept for the next ones.
 *
 * A small buffer in managed memory is slow to copy and to fill: 4 bytes to the device take 12.4 us instead of the
 * native 1.4 (measured on an H200). So the first of a context are mapped, each in a block of GMOD_LARGE of device
 * memory: as many at once as option small_mapped says and as take no more than GMOD_SMALL_SHARE of the device's memory
 * together. All around such a buffer is slack, but for the page behind it: what is written before it is found by
 * gathers, not by sweeps.
 *
 * To map a block and to give it back takes 270 us (measured), so a freed one is kept. A native buffer of one byte, the
 * twin, comes and goes with each user of a block, by the calls that the program made, in its own capture mode: they
 * answer and wait as the native ones would, and take a microsecond. What cannot be asked of them is memory of that
 * size; kept blocks are given back when it runs short.
 *
 *     alloc ──► kept block, or a new one ──► twin ──► canaries ──► LIVE
 *     free  ──► RELEASING ──► twin freed: the device is done ──► verified ──► kept, or given back
 *
 * Blocks are of one layout, wherever in them the buffer lies. A block is in one place at a time: with a record, or
 * kept; keeping and taking are single exchanges, so a signal handler that jumps away loses one block at the most.
 */
#ifndef GMOD_LIB_SMALL_H
#define GMOD_LIB_SMALL_H

#include "lib/context/context.h"
#include "monitor/registry/registry.h"

enum { GMOD_SMALL_SHARE = 256 };

/* May one more be mapped? */
bool gmod_small_has_room(const struct gmod_context *c);
/* There is one more of them, or one less: each takes off what it put on, also where its context has gone meanwhile. */
void gmod_small_count(const struct gmod_context *c, int by);

/* A kept block, where its reservation begins; 0: there is none. */
uint64_t gmod_small_take(struct gmod_context *c);
/* false: there is no room, or the context is about to go. */
bool gmod_small_keep(struct gmod_context *c, uint64_t raw);
/* A block that was not used after all: kept, or given back. */
void gmod_small_unused(struct gmod_context *c, uint64_t raw);
/* The device memory of what is kept on the context's device, for whichever context. */
uint64_t gmod_small_kept_bytes(const struct gmod_context *c);

/*
 * Give back what is kept on the context's device, for whichever context: waits for the device as cuMemFree does, if
 * there is any. false: there was nothing. _gone: the context has gone, and nothing waits.
 */
bool gmod_small_give_back(const struct gmod_context *c);
void gmod_small_gone(struct gmod_context *c);

/* The driver gave r to an allocation in the current context. true: memory was short, and there is more of it now. */
bool gmod_small_made_room(CUresult r);

/* A new twin, as the program's own call would be answered. */
CUresult gmod_small_twin(uint64_t *twin);
/* The record's twin, if it still has one, goes: the program's own free. The caller owns the record. */
CUresult gmod_small_free_twin(struct gmod_record *r);

#endif
