/*
 * The device heaps of this process, one for each context whose modules have units (device/units.h).
 *
 * A heap is made by the thread that first needs it, in its context, and lives as long as the context. Its memory is the
 * driver's own; the metadata arrives by copies on a stream of GMOD's own, so that making a heap waits for no kernel.
 * The ring of findings is pinned memory, which the driver takes away with the context: it is read only while the
 * context is entered (lib/context.h).
 */
#ifndef GMOD_DEVICE_HEAPS_H
#define GMOD_DEVICE_HEAPS_H

#include "device/layout.h"
#include "lib/context.h"
#include "monitor/verify.h"

struct gmod_heap {
	const struct gmod_context *context;
	struct gmod_device_layout layout;
	uint64_t key[2];
	uint64_t header; /* device address of struct gmod_device_heap */
	struct gmod_device_ring *ring;
	uint64_t taken; /* findings read from the ring */
	CUstream stream;
	CUevent passed;                   /* recorded behind the latest guard pass */
	bool under_way;                   /* that pass is not known to be complete */
	uint64_t passed_ns;               /* when it was launched */
	struct gmod_moment began, intact; /* likewise; and the pass before it, when all was found intact or reported */
	uint64_t activity;                /* gmod_activity_total() then */
	uint32_t passes_owed;             /* to be launched although nothing happens any more */
};

/* The current context's heap, made if need be; NULL where that is not possible, which is said once. c: its entry. */
struct gmod_heap *gmod_heap_here(struct gmod_context *c);

/* The context is gone, and the heap with it. */
void gmod_heap_gone(struct gmod_context *c);

#endif
