/*
 * The device heaps of this process, one for each context whose modules have units (device/units.h).
 *
 *     made by the thread that first launches a kernel of such a module ─► guarded by the monitor (device/guard.h)
 *     ─► gone with its context
 *
 * All of its memory is the context's: the driver takes it away with that. Everything reaches the device by copies on a
 * stream of their own: making a heap waits for no kernel. The ring of findings is pinned memory, which the driver
 * takes away with the context: it is touched only while the context is entered (lib/context/context.h).
 */
#ifndef GMOD_HOST_DEVICE_HEAPS_H
#define GMOD_HOST_DEVICE_HEAPS_H

#include "device/layout.h"
#include "lib/context/context.h"
#include "monitor/watch/damage.h"

/* What the closing line has been told of a heap (device/stats.h). */
struct gmod_stock {
	uint64_t buffers, left, left_bytes, lost;
};

struct gmod_heap {
	const struct gmod_context *context;
	struct gmod_device_layout layout;
	uint64_t memory; /* what cuMemAlloc gave for the chunks */
	size_t size;     /* bytes of them */
	uint64_t key[2];
	uint64_t state;               /* device address of struct gmod_heap_state, and of all that follows it */
	struct gmod_device_heap told; /* what units have in constant memory */
	struct gmod_device_ring *ring;
	CUstream copies, passes; /* the second is the guard's alone: its kernels may have to wait for the program's */
	CUevent passed;          /* recorded behind the latest pass of the guard */

	/* Under the guard's lock (device/guard.c). */
	uint64_t taken;        /* findings read from the ring */
	uint64_t stuck_ns;     /* since when the next one is not there though it should be; 0: it is not so */
	uint64_t taken_before; /* `taken` at `began` */
	uint64_t due;          /* findings that had numbers when we last asked for one that was not there */
	bool under_way;        /* what `passed` stands for is not known to be complete */
	bool owed;             /* something was running when the latest pass began */
	bool stopped;          /* by the program (gmod_device_stop) */
	uint64_t launched_ns;  /* when the latest pass was */
	struct gmod_moment began, intact; /* of the latest pass; up to when all was found intact or reported */
	uint64_t activity;                /* gmod_activity_total() then */
	struct gmod_stock stock;
};

/* The current context's heap, made if need be; NULL where that is not possible, which is said once. c: its entry. */
struct gmod_heap *gmod_heap_here(struct gmod_context *c);
/* That of a context's entry; NULL: it has none. */
struct gmod_heap *gmod_heap_of(const struct gmod_context *c);

/* Copies of what lies on the device. They wait for other copies only. false: the driver refused. */
bool gmod_heap_read(const struct gmod_heap *h, uint64_t from, void *to, size_t size);
bool gmod_heap_write(const struct gmod_heap *h, uint64_t to, const void *from, size_t size);

/* The context is gone, and the heap with it. */
void gmod_heap_gone(struct gmod_context *c);

#endif
