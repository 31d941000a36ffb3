/*
 * The guard over the device heaps: when it runs, and what it finds.
 *
 * The guard kernel (include/gmod/device_guard.h) runs on a stream of its own that orders nothing of the program's. A
 * pass is a short launch. The monitor launches one every device_guard_us while something happens or may be running, and
 * one more when all work is done; it never waits for one.
 *
 * Findings come out of the ring whether or not a pass is complete: freeN puts some there too. Every wait has a bound,
 * because a kernel that fills the device keeps the guard out for as long as it likes.
 */
#ifndef GMOD_HOST_DEVICE_GUARD_H
#define GMOD_HOST_DEVICE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "include/gmod.h"

/* A kernel that is short of memory waits for a pass that gives back what is kept back: GMOD_GUARD_NS. */
enum { GMOD_GUARD_PAUSE_MAX = 5000000 /* ns */ };

struct gmod_heap;
struct gmod_context;

/* In the monitor, between sweeps: take findings, launch what is due. */
void gmod_guard_tick(void);

/* A first pass with the guard kernel of each unit that is begun. The context is current, and the thread its user. */
void gmod_guard_begin(struct gmod_context *c);

/* How long the monitor may sleep now, in ns, before the next tick; UINT64_MAX: until something happens. */
uint64_t gmod_guard_leisure(void);

/* ns between two ticks at most, however long the monitor pauses; UINT64_MAX: a tick may wait for the end of that. */
uint64_t gmod_guard_patience(void);

/*
 * A pass that begins now, in every context or only one, and all it finds; waits for it, for at most `deadline` ns
 * altogether. false: one of them was not complete by then, because kernels keep it out.
 */
bool gmod_guard_check(const struct gmod_context *only, uint64_t deadline);

/* No pass that began before the call is under way any more; waits as gmod_guard_check() does. */
bool gmod_guard_settle(const struct gmod_context *only, uint64_t deadline);

/* For the closing line: what kernels have allocated and left, as far as the guard has seen it. */
void gmod_guard_update_stats(const struct gmod_context *only);

/*
 * One heap, with its context entered and current and no pass being launched: for what the program asks.
 * GMOD_NO_HEAP, or GMOD_BUSY where others have been at the heaps for 2 s.
 */
enum gmod_status gmod_guard_visit(const struct gmod_context *c, void (*look)(struct gmod_heap *h, void *arg),
				  void *arg);

#endif
