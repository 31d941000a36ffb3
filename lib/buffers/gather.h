/*
 * The gather: slack bytes come over from the device by small copies on a stream of our own, into pinned memory, and
 * the CPU compares them there. Nothing migrates, no kernel runs, and a GPU whose multiprocessors are all busy does not
 * hold it up: copies of a few hundred bytes go through the copy engine. Those of all buffers that are pinned together
 * are issued in one call, which gets the driver's lock once (128 pieces and waiting for them: 48 us, 140 us one by
 * one).
 *
 * A buffer is pinned while its copies are issued, and looked at again, under the sweep's pin, once the copies are
 * complete: if it is still the same live buffer, the bytes were its own.
 */
#ifndef GMOD_LIB_BUFFERS_GATHER_H
#define GMOD_LIB_BUFFERS_GATHER_H

#include <stdbool.h>

#include "lib/base/deadline.h"
#include "lib/context/context.h"

/* How much of the slack: the bytes next to the user's, or all of it, of all buffers or of those that are named. */
enum gmod_gather { GMOD_GATHER_NEAR, GMOD_GATHER_WHOLE, GMOD_GATHER_NAMED };

/*
 * Gather in one context, or in all (c == NULL). Waits for its own copies only, and at most 100 ms a batch (whole: 500
 * ms). Must not be called with the sweep lock held; one gather runs at a time, a second returns at once unless it waits
 * for the first (whole). false: not all of it was looked at; on a device that other processes use as well copies take
 * their time.
 */
bool gmod_gather(struct gmod_context *c, enum gmod_gather what);

/* In the monitor: all slack of the buffers at these positions of the registry, as far as they are of that context. */
bool gmod_gather_named(const struct gmod_context *c, const uint32_t *positions, unsigned count);

/* In the monitor: up to then, of gmod_monotonic_ns(), somebody else looks at what can be overrun in all contexts. */
void gmod_gather_relieve(uint64_t until_ns);

/*
 * How long the monitor leaves the driver to a program that begins. One that ends within this time goes without gathers
 * and patrol: its buffers are looked at when they are freed.
 */
#define GMOD_EARLY GMOD_MILLISECONDS(20)

/* The monitor's round (monitor/watch/monitor.h): a gather when it is due, and whether one is still to come. */
void gmod_gather_tick(void);
uint64_t gmod_gather_leisure(void);

#endif
