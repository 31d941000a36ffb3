/*
 * What kernels are called, learned when their handle appears, because a name dies with its module.
 *
 * A handle may be used again for another kernel after an unload: a launch gets the name that its handle had then, by
 * its history (monitor/launches/history.h), where names are copied and kept.
 */
#ifndef GMOD_MONITOR_LAUNCHES_NAMES_H
#define GMOD_MONITOR_LAUNCHES_NAMES_H

#include <stdint.h>

/* name NULL: the handle has one that nobody knows. module: the module or library that it goes with; 0: not known. */
void gmod_name_learn(uint64_t handle, const char *name, uint64_t module);
/* The handle is that of the kernel's function: it has its name, if that is known, and goes with it. */
void gmod_name_learn_as(uint64_t handle, uint64_t kernel);
/* A module or library is gone, or was about to be at `ticks`, and what its handles stood for. */
void gmod_names_end(uint64_t module, uint64_t ticks);
/* The name that the handle had at `ticks`; NULL: not known. The same name is the same pointer. */
const char *gmod_name_of(uint64_t handle, uint64_t ticks);
/* The module or library that the handle goes with now; 0: not known. */
uint64_t gmod_name_owner(uint64_t handle);

#endif
