/*
 * What a launch's parameters are: asked of the driver at the first launch of a handle (monitor/launches/signatures.h),
 * and copied at each one, before the driver is called (monitor/launches/arguments.h).
 */
#ifndef GMOD_LIB_HOOKS_PARAMETERS_H
#define GMOD_LIB_HOOKS_PARAMETERS_H

#include "monitor/launches/arguments.h"

/* Each in the program's thread, for its next launch; params and extra as cuLaunchKernel has them. */
__attribute__((cold)) void gmod_parameters_rare(struct gmod_thread *t, uint64_t function, void *const *params,
						void *const *extra);

/* The signature of a graph's kernel, for its handle's life; NULL: the driver does not say. */
const struct gmod_signature *gmod_parameters_of_node(uint64_t handle, bool is_kernel);

static inline __attribute__((always_inline)) void gmod_parameters(struct gmod_thread *t, uint64_t function,
								  void *const *params, void *const *extra)
{
	if (__builtin_expect(extra != NULL || !gmod_arguments_take(t, function, params), 0))
		gmod_parameters_rare(t, function, params, extra);
}

#endif
