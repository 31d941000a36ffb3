/*
 * What handles have stood for, and since when: a handle is used again once what it stood for is gone.
 *
 * Of each the latest four changes are known, and of what was there before them nothing. What they stand for is kept
 * once, however often it comes back, and for ever, in memory that is bounded: after 64 MiB of different things and
 * handles, what is new is unknown. Everything here takes no lock and may be called from any hook.
 */
#ifndef GMOD_MONITOR_LAUNCHES_HISTORY_H
#define GMOD_MONITOR_LAUNCHES_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists that only grow, by the hash of a key: who walks one needs no lock, and nodes of other keys are among its own.
 */
enum { GMOD_LISTS = 8192 };
struct gmod_node {
	struct gmod_node *next;
	uint64_t key;
};
typedef _Atomic(struct gmod_node *) gmod_lists[GMOD_LISTS];

/* The same bytes are the same pointer. A zero follows them. */
struct gmod_kept {
	struct gmod_node node;
	size_t size;
	char bytes[] __attribute__((aligned(8)));
};

/* NULL: there is no room. */
const struct gmod_kept *gmod_keep(const void *bytes, size_t size);

/* From now on the handle stands for this; NULL: nobody knows for what. The first also for the time before it came. */
void gmod_history_add(gmod_lists histories, uint64_t handle, const struct gmod_kept *what);
/* What the handle stood for at `ticks`, at GMOD_LATEST at last; NULL: that is not known. */
#define GMOD_LATEST UINT64_MAX
const struct gmod_kept *gmod_history_at(gmod_lists histories, uint64_t handle, uint64_t ticks);

#endif
