/*
 * The patrol: while the GPU is in use a small kernel looks at the redzones of all device buffers of a context, from a
 * list, and says which of them differ (lib/buffers/patrol_list.h). The gather then fetches those, and the CPU judges by
 * the host's key: the list and the answers lie where kernels of the program can write, and nothing in them is believed.
 *
 *     who allocates         the monitor                                        who frees
 *     canary in place       a round: launch, and its answers a little later    RELEASING
 *     add                   what differs: fetched by the gather, sighted       remove
 *     LIVE                                                                     wait for the context; the real free
 *
 * One launch at a time, with nothing behind it: no event, no copy. Where kernels of the program keep it out, where it
 * has not been loaded yet, and where it cannot be, the gather looks as often as it can instead.
 */
#ifndef GMOD_LIB_BUFFERS_PATROL_H
#define GMOD_LIB_BUFFERS_PATROL_H

#include "lib/buffers/patrol_kernel.h"
#include "monitor/registry/registry.h"

/* By the owner of the record, whose canaries are in place: before it is LIVE, and before its memory may go. */
void gmod_patrol_add(const struct gmod_record *r);
void gmod_patrol_remove(const struct gmod_record *r);

/*
 * The program has waited, and the patrol wants a context that is at rest: its function is got there now, if it is, some
 * 0.1 ms once a context. Beside a kernel that would wait for it, and have the program's launches wait too.
 */
void gmod_patrol_at_rest(void);

static inline void gmod_patrol_waited(void)
{
	if (__builtin_expect(atomic_load_explicit(&gmod_patrol_wanted, memory_order_relaxed) > 0, 0))
		gmod_patrol_at_rest();
}

/* The monitor's round (monitor/watch/monitor.h). */
void gmod_patrol_tick(void);
uint64_t gmod_patrol_leisure(void);

#endif
