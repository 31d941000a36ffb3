/*
 * What kernels are called, learned when their handle appears, because a name dies with its module.
 *
 * A handle may be used again for another kernel after an unload: a launch gets the name that its handle had then, by
 * its history (monitor/launches/history.h), where names are copied and kept.
 */
#ifndef GMOD_MONITOR_LAUNCHES_NAMES_H
#define GMOD_MONITOR_LAUNCHES_NAMES_H

#include <stdint.h>

/* name NULL: the handle has one that nobody knows. */
void gmod_name_learn(uint64_t handle, const char *name);
/* The name that the handle had at `ticks`; NULL: not known. The same name is the same pointer. */
const char *gmod_name_of(uint64_t handle, uint64_t ticks);

#endif
