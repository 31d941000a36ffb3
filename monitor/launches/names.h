/*
 * What kernels are called, learned when their handle appears, because a name dies with its module.
 *
 * Names are copied and kept for ever (bounded: after 64 MiB nothing new is learned). A handle may be used again for
 * another kernel after an unload; each name carries the time it was learned, and a launch gets the name its
 * handle had then. Learning takes no lock and may be called from any hook.
 */
#ifndef GMOD_MONITOR_LAUNCHES_NAMES_H
#define GMOD_MONITOR_LAUNCHES_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void gmod_name_learn(uint64_t handle, const char *name);
/* The name the handle had at `ticks`; NULL: never learned. */
const char *gmod_name_of(uint64_t handle, uint64_t ticks);
/* One kernel may have several handles, each with a copy of its name; NULL is like NULL. */
bool gmod_same_name(const char *a, const char *b);

/* Where names lie: zeroed memory that stays for ever, NULL when that is used up. From any thread. */
void *gmod_names_allocate(size_t size);

/* Lists that only grow, by the hash of a key: who walks one needs no lock, and nodes of other keys are among its own.
 */
enum { GMOD_LISTS = 8192 };
struct gmod_node {
	struct gmod_node *next;
	uint64_t key;
};
typedef _Atomic(struct gmod_node *) gmod_lists[GMOD_LISTS];

/* The newest of that key, or the next older one after that; NULL: there is none. */
struct gmod_node *gmod_list_find(gmod_lists lists, uint64_t key, const struct gmod_node *after);
/* Put in front; its key and all else of it are complete. */
void gmod_list_add(gmod_lists lists, struct gmod_node *n);

#endif
