/*
 * What handles have stood for, and in which time: a handle is used again once what it stood for is gone.
 *
 * Of what handles stood for in the past, the latest is known: in each list, which a few handles share, four are kept,
 * and the room of the others is for what comes. All of it is in the bounded memory of lib/base/keep.h: what finds no
 * room there is unknown. Everything here takes no lock and may be called from any hook.
 */
#ifndef GMOD_MONITOR_LAUNCHES_HISTORY_H
#define GMOD_MONITOR_LAUNCHES_HISTORY_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/base/keep.h"

/* Lists by the hash of a handle. They only grow: who walks one needs no lock, and finds other handles in it, too. */
enum { GMOD_LISTS = 8192 };
typedef _Atomic(struct gmod_tenure *) gmod_histories[GMOD_LISTS];

/* From now on the handle stands for this, as long as its owner is there; NULL: nobody knows for what. Owner 0: none. */
void gmod_history_add(gmod_histories histories, uint64_t handle, const struct gmod_kept *what, uint64_t owner);
/* The owner was there until then, and all that it owned; GMOD_ANY_OWNER: all of them were. */
#define GMOD_ANY_OWNER UINT64_MAX
void gmod_history_end(gmod_histories histories, uint64_t owner, uint64_t until);
/*
 * What the handle stood for at `ticks`, at GMOD_LATEST now, and in *owner (or NULL) whose it is. NULL: that is not
 * known, or is just being changed.
 */
#define GMOD_LATEST UINT64_MAX
const struct gmod_kept *gmod_history_at(gmod_histories histories, uint64_t handle, uint64_t ticks, uint64_t *owner);

#endif
