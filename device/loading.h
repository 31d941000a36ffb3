/*
 * Units (device/units.h) come, are made ready and go.
 *
 * Each has three symbols: gmod_unit_heap, the pointer to the heap, which is filled here; the guard kernel, which is
 * compiled with the program, for its GPU and by its compiler, and has the layout's number in its name; and gmod_unit, a
 * kernel that does nothing and has the same name with each layout. A unit is found when its module is loaded, by asking
 * for gmod_unit and then for the guard kernel: that loads nothing. Its pointer is filled for a context before the first
 * launch there:
 *
 *     load ─► gmod_hot.units changes ─► launch: seen by this thread, in this context? ─► fill what is missing,
 *                                                                                        and a first guard pass
 *
 * The pass is there to have the guard kernel loaded: the driver loads a kernel at its first launch, and may wait for
 * all others to end for that. So the program's thread waits for it, where it might have to wait for its own kernel as
 * well, and not the monitor, for which a kernel may be waiting that needs memory (measured: 485 ms instead of 17).
 *
 * A program without units pays one load and compare a launch.
 */
#ifndef GMOD_HOST_DEVICE_LOADING_H
#define GMOD_HOST_DEVICE_LOADING_H

#include "device/units.h"
#include "lib/context/teardown.h"

/* A CUmodule, of the current context, or a CUlibrary. */
void gmod_unit_loaded(void *handle, bool is_library);

/*
 * About to be unloaded. Of a unit: what lies in the heaps is verified for as long as there is a guard kernel, which
 * waits 1 s at most, and for a module, as the driver will, for all work of its context before that; then its guard
 * kernel is launched no more, and what is under way waited for, 5 s at most. Returns what it was.
 */
struct gmod_unit gmod_unit_unload(const void *handle);

/* The driver has refused to unload it: it is one as before, if it was. */
void gmod_unit_stays(const struct gmod_unit *u);

void gmod_units_fill(uint64_t state, uint64_t context);
void gmod_units_fill_all(uint64_t state);

/*
 * Before a launch, in the launching thread; context: its current one, as a number. all: in each context, for a graph's
 * kernels may be of others than the one it is launched in.
 */
static inline void gmod_units_prepare(uint64_t context, bool all)
{
	uint64_t state = atomic_load_explicit(&gmod_hot.units, memory_order_acquire);

	if (__builtin_expect(!(state & 1), 1))
		return;
	if (all)
		gmod_units_fill_all(state);
	gmod_units_fill(state, context);
}

/* What kernels of a context have allocated is looked at once more before it ends, and heap and units go with it. */
extern const struct gmod_context_listener gmod_device_of_context;

#endif
