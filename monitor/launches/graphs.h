/*
 * Which kernels an executable graph has, and had when it was launched.
 *
 * They are kept as names (monitor/launches/names.h), and each handle has a history (monitor/launches/history.h), for it
 * is used again, and graphs are updated. One executable graph is not changed by two threads at a time.
 */
#ifndef GMOD_MONITOR_LAUNCHES_GRAPHS_H
#define GMOD_MONITOR_LAUNCHES_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

enum { GMOD_GRAPH_NAMES = 32 }; /* the last one NULL where there are more */

/*
 * The kernels of an executable graph from now on, by their handles; kept as names. _more: and those it had, too, for it
 * may still have any of them. A handle of no name, like 0, stands for kernels that are not known. true: a name is new.
 */
bool gmod_graph_learn(uint64_t graph, const uint64_t *functions, unsigned count);
bool gmod_graph_learn_more(uint64_t graph, const uint64_t *functions, unsigned count);
/* It is gone. */
void gmod_graph_end(uint64_t graph);
/*
 * Distinct names, at most max, latest learned first; NULL for what is not known. They are those that the handle had at
 * `ticks`; none where that is not known any more.
 */
unsigned gmod_graph_kernels(uint64_t graph, uint64_t ticks, const char **names, unsigned max);

#endif
