/*
 * Units: modules and libraries of the program whose kernels use include/gmod_device.cuh.
 *
 * Each has two symbols: gmod_unit_heap, the pointer to the heap, which is filled here; and the guard kernel, which is
 * compiled with the program, for its GPU and by its compiler, and has the layout's number in its name. A unit is found
 * when its module is loaded, by asking for the guard kernel: that loads nothing. Its pointer is filled for a context
 * before the first launch there:
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
#ifndef GMOD_DEVICE_UNITS_H
#define GMOD_DEVICE_UNITS_H

#include "lib/context/context.h"
#include "lib/base/phase.h"

enum { GMOD_UNITS = 64 };

struct gmod_unit {
	void *handle; /* CUmodule or CUlibrary; NULL: none */
	void *guard;  /* CUfunction or CUkernel */
	bool is_library;
	CUcontext context; /* of a module; a library is in all */
};

void gmod_unit_module(CUmodule module);
void gmod_unit_library(CUlibrary library);

/*
 * About to be unloaded. Of a unit: what lies in the heaps is verified for as long as there is a guard kernel, which
 * waits 1 s at most, and for a module, as the driver will, for all work of its context before that; then its guard
 * kernel is launched no more, and what is under way waited for, 5 s at most. Returns what it was.
 */
struct gmod_unit gmod_unit_unload(const void *handle);

/* The driver has refused to unload it: it is one as before, if it was. */
void gmod_unit_stays(const struct gmod_unit *u);

/* A context is gone, and its modules with it. */
void gmod_units_context_gone(struct gmod_context *c);

void gmod_units_fill(uint64_t state, uint64_t context);
void gmod_units_fill_all(uint64_t state);

/* Are there any? */
static inline bool gmod_units_exist(void)
{
	/* acquire: the table as it was when the first one was put there */
	return atomic_load_explicit(&gmod_hot.units, memory_order_acquire) & 1;
}

/* Before a launch, in the launching thread; context: its current one, as a number. */
static inline void gmod_units_prepare(uint64_t context)
{
	uint64_t state = atomic_load_explicit(&gmod_hot.units, memory_order_acquire);

	if (__builtin_expect(state & 1, 0))
		gmod_units_fill(state, context);
}

/* The same for all contexts: a graph's kernels may be of others than the one it is launched in. */
static inline void gmod_units_prepare_all(void)
{
	uint64_t state = atomic_load_explicit(&gmod_hot.units, memory_order_acquire);

	if (__builtin_expect(state & 1, 0))
		gmod_units_fill_all(state);
}

/* A launch of a guard kernel. */
struct gmod_guard_launch {
	uint64_t units; /* whose guard kernel will do, a bit each */
	CUstream stream;
	unsigned blocks, threads;
	void **arguments;
};
#define GMOD_ANY_UNIT UINT64_MAX

/*
 * Launch the guard kernel of one of the context's units: true if one could be launched. The context is current.
 */
bool gmod_units_launch_guard(const struct gmod_context *c, const struct gmod_guard_launch *l);

#endif
