/*
 * Units: modules and libraries of the program whose kernels use include/gmod_device.cuh. This is their table, and the
 * launch of the guard kernel that each has; they come, are filled and go in device/loading.h.
 */
#ifndef GMOD_HOST_DEVICE_UNITS_H
#define GMOD_HOST_DEVICE_UNITS_H

#include "lib/base/phase.h"
#include "lib/context/context.h"

struct gmod_unit {
	void *handle; /* CUmodule or CUlibrary; NULL: none */
	void *guard;  /* CUfunction or CUkernel */
	bool is_library;
	CUcontext context; /* of a module; a library is in all */
};

/* Are there any? */
static inline bool gmod_units_exist(void)
{
	/* acquire: the table as it was when the first one was put there */
	return atomic_load_explicit(&gmod_hot.units, memory_order_acquire) & 1;
}

void gmod_units_add(struct gmod_unit unit);
/* Its handle is NULL where it is none. */
struct gmod_unit gmod_unit_of(const void *handle);
void gmod_units_forget(const void *handle);
/* The context is gone, and its modules with it. */
void gmod_units_forget_context(const struct gmod_context *c);

/*
 * Have each unit filled that is in the context and has not been; how many. They are begun then (gmod_units_begun), and
 * ready once that is said here, unless units have come or gone since gmod_hot.units was `state`: then none is. A unit
 * that `fill` says no of is neither, and is not asked for again in that context.
 */
unsigned gmod_units_fill_missing(const struct gmod_context *c, bool (*fill)(const struct gmod_unit *u, void *arg),
				 void *arg);
void gmod_units_filled(const struct gmod_context *c, uint64_t state);

#define GMOD_NO_UNIT UINT32_MAX

/* The place of a unit that is begun there and not ready, at `place` or behind it; GMOD_NO_UNIT: there is none. */
unsigned gmod_units_begun(const struct gmod_context *c, unsigned place);

/*
 * Launch the guard kernel of that unit, or of any that is ready for GMOD_NO_UNIT: true if one could be launched. The
 * context is current.
 */
bool gmod_units_launch_guard(const struct gmod_context *c, unsigned unit, CUstream stream, unsigned blocks);

#endif
