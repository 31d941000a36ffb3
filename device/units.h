/*
 * Units: modules and libraries of the program whose kernels use include/gmod_device.cuh. This is their table, and the
 * launch of the guard kernel that each has; they come, are filled and go in device/loading.h.
 */
#ifndef GMOD_HOST_DEVICE_UNITS_H
#define GMOD_HOST_DEVICE_UNITS_H

#include "lib/base/phase.h"
#include "lib/context/context.h"

enum { GMOD_UNITS = 64 };

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

/* The contexts that have a module which is a unit; returns how many, some perhaps more than once. */
unsigned gmod_units_contexts(CUcontext context[GMOD_UNITS]);

/*
 * Have each unit filled that is in the context and has not been: returns which, a bit each. They are ready once that is
 * said here, unless units have come or gone since gmod_hot.units was `state`: then none is.
 */
uint64_t gmod_units_fill_missing(const struct gmod_context *c, void (*fill)(const struct gmod_unit *u, void *arg),
				 void *arg);
void gmod_units_filled(const struct gmod_context *c, uint64_t filled, uint64_t state);

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
