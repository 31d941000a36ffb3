/*
 * What kernels are called, learned when their handle appears, because a name dies with its module.
 *
 * Names are copied and kept for ever (bounded: after 64 MiB nothing new is learned). A handle may be used again for
 * another kernel after an unload; each name carries the time it was learned, and a launch gets the name its
 * handle had then. Learning takes no lock and may be called from any hook.
 */
#ifndef GMOD_MONITOR_NAMES_H
#define GMOD_MONITOR_NAMES_H

#include <stdbool.h>
#include <stdint.h>

void gmod_name_learn(uint64_t handle, const char *name);
bool gmod_name_known(uint64_t handle);
/* The name the handle had at `ticks`; NULL: never learned. */
const char *gmod_name_of(uint64_t handle, uint64_t ticks);
/* One kernel may have several handles, each with a copy of its name; NULL is like NULL. */
bool gmod_same_name(const char *a, const char *b);

enum { GMOD_GRAPH_NAMES = 32 }; /* the last one NULL where there are more */

/*
 * The kernels of an executable graph from now on, by their handles; kept as names. _more: and those it had, too, for it
 * may still have any of them. A handle of no name, like 0, stands for kernels that are not known. true: a name is new.
 */
bool gmod_graph_learn(uint64_t graph, const uint64_t *functions, unsigned count);
bool gmod_graph_learn_more(uint64_t graph, const uint64_t *functions, unsigned count);
/*
 * Distinct names, at most max, latest learned first; NULL for what is not known. They are those that the handle had at
 * `ticks`; none where that is four changes ago or more.
 */
unsigned gmod_graph_kernels(uint64_t graph, uint64_t ticks, const char **names, unsigned max);

#endif
