/*
 * Guard passes over the device heaps, and what they find.
 *
 * A pass is one launch of the guard kernel (include/gmod/device_guard.h) on the heap's own non-blocking stream, so that
 * it orders nothing of the program's. The monitor launches one every device_guard_us while something happens or may be
 * running, and one more when all work is done; it never waits for one. Findings come out of the ring whether or not a
 * pass is complete: freeN puts some there too.
 */
#ifndef GMOD_DEVICE_GUARD_H_HOST
#define GMOD_DEVICE_GUARD_H_HOST

#include <stdbool.h>
#include <stdint.h>

/* In the monitor, between sweeps: take findings, launch what is due. */
void gmod_guard_tick(void);

/* Is a pass under way or owed? Then the monitor must not sleep for long. */
bool gmod_guard_pending(void);

/*
 * A pass that begins now, in every context, and all it finds; waits for it, for at most `patience` ns altogether.
 * false: one of them was not complete by then, because kernels keep it out.
 */
bool gmod_guard_check(uint64_t patience);

#endif
