/*
 * Units: modules and libraries of the program whose kernels use include/gmod_device.cuh.
 *
 * Each has three symbols: gmod_unit_heap, the pointer to the heap, which is filled here; gmod_unit_layout, the version
 * of the layout it was compiled with; and the guard kernel, which is compiled with the program, for its GPU and by its
 * compiler. A unit is found when its module is loaded, by asking for the guard kernel: that loads nothing. Its pointer
 * is filled for a context before the first launch there:
 *
 *     load ─► a bit in gmod_hot.units ─► launch: is the bit in the context's units_ready? ─► fill, then the bit
 *
 * A program without units pays one load and compare a launch.
 */
#ifndef GMOD_DEVICE_UNITS_H
#define GMOD_DEVICE_UNITS_H

#include "lib/context.h"
#include "lib/process.h"

enum { GMOD_UNITS = 64 };

void gmod_unit_module(CUmodule module);
void gmod_unit_library(CUlibrary library);
/* About to be unloaded: its guard kernel must not be launched any more. */
void gmod_unit_unload(const void *handle);

void gmod_units_fill(void);

/* Before a launch, in the launching thread. */
static inline void gmod_units_prepare(void)
{
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.units, memory_order_acquire) != 0, 0))
		gmod_units_fill();
}

/*
 * Launch a guard pass with the guard kernel of one of the context's units: true if one could be launched. The context
 * is current.
 */
bool gmod_units_launch_guard(const struct gmod_context *c, CUstream stream, unsigned workers, void **arguments);

#endif
