/*
 * Which kernels an executable graph has, and had when it was launched.
 *
 * They are kept as names (monitor/launches/names.h), and each handle has a history (monitor/launches/history.h), for it
 * is used again, and graphs are updated. One executable graph is not changed by two threads at a time.
 */
#ifndef GMOD_MONITOR_LAUNCHES_GRAPHS_H
#define GMOD_MONITOR_LAUNCHES_GRAPHS_H

#include <stdint.h>

#include "lib/base/keep.h"
#include "monitor/launches/arguments.h"

enum { GMOD_GRAPH_NAMES = 256 }; /* the last one NULL where there are more */

/*
 * The kernels of an executable graph from now on, by their handles; kept as names. A handle of no name, like 0, stands
 * for kernels that are not known.
 */
void gmod_graph_learn(uint64_t graph, const uint64_t *functions, unsigned count);
/* The graph was changed: from now on it may have any kernel besides those it had, with any arguments. */
void gmod_graph_updated(uint64_t graph);
/* A word that a kernel of the graph has among its arguments, and that may be an address. */
struct gmod_graph_word {
	uint64_t word;
	const char *name; /* the kernel's, as gmod_name_of() says */
	uint32_t argument, byte;
};
/*
 * All such words of the executable graph from now on; NULL: they are not known. They are kept for ever
 * (lib/base/keep.h), in one half of what can be: what comes after that is not known, and names have the other half.
 */
enum { GMOD_GRAPH_BYTES = 32 << 20 };
void gmod_graph_words_learn(uint64_t graph, const struct gmod_graph_word *words, size_t count);
/* Those that the graph had at `ticks`: the same ones are the same pointer. NULL: they are not known. */
const struct gmod_kept *gmod_graph_words_at(uint64_t graph, uint64_t ticks);
/* The best of these that a kernel of that name has. */
struct gmod_pointer gmod_graph_find(const struct gmod_kept *words, const char *name, const struct gmod_target *target);

/* It is gone. */
void gmod_graph_end(uint64_t graph);
/*
 * Distinct names, GMOD_GRAPH_NAMES at most; NULL for what is not known. They are those that the handle had at `ticks`;
 * none where that is not known any more.
 */
const char *const *gmod_graph_kernels(uint64_t graph, uint64_t ticks, unsigned *count);

#endif
