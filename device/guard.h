/*
 * The guard over the device heaps: when it runs, and what it finds.
 *
 * The guard kernel (include/gmod/device_guard.h) runs on a stream of its own that orders nothing of the program's. In
 * one of two modes:
 *
 *   periodic    A pass is a short launch. The monitor launches one every device_guard_us while something happens or may
 *               be running, and one more when all work is done; it never waits for one.
 *   persistent  One block stays on the device and makes passes without a pause, for a turn of GMOD_TURN_US; the monitor
 *               launches the next turn. So a guard that nobody stops ends by itself, with the process or without it,
 *               and what waits for the whole device waits for a turn at most. Hooks of calls that may wait for the
 *               device, or need all of it, stop it first:
 *
 *                   GMOD_GUARD_PAUSED;          the turn ends within microseconds, and none begins before we return
 *                   r = NEXT(cuCtxSynchronize)();
 *
 *               Passes of the first kind go on meanwhile.
 *
 * Findings come out of the ring whether or not a pass is complete: freeN puts some there too. Every wait has a bound,
 * because a kernel that fills the device keeps the guard out for as long as it likes.
 */
#ifndef GMOD_HOST_DEVICE_GUARD_H
#define GMOD_HOST_DEVICE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "include/gmod.h"
#include "lib/base/phase.h"

enum { GMOD_TURN_US = 10000 };

/* A kernel that is short of memory waits for a pass that gives back what is kept back: GMOD_GUARD_NS. */
enum { GMOD_GUARD_PAUSE_MAX = 5000000 /* ns */ };

struct gmod_heap;
struct gmod_context;

/* In the monitor, between sweeps: take findings, launch what is due. */
void gmod_guard_tick(void);

/* A first pass with the guard kernel of each unit that is begun. The context is current, and the thread its user. */
void gmod_guard_begin(struct gmod_context *c);

/* How long the monitor may sleep now, in ns, before the next tick; UINT64_MAX: until something happens. */
uint64_t gmod_guard_leisure(void);

/* ns between two ticks at most, however long the monitor pauses; UINT64_MAX: a tick may wait for the end of that. */
uint64_t gmod_guard_patience(void);

/*
 * A pass that begins now, in every context or only one, and all it finds; waits for it, for at most `deadline` ns
 * altogether. false: one of them was not complete by then, because kernels keep it out.
 */
bool gmod_guard_check(const struct gmod_context *only, uint64_t deadline);

/* No pass that began before the call is under way any more; waits as gmod_guard_check() does. */
bool gmod_guard_settle(const struct gmod_context *only, uint64_t deadline);

/* For the closing line: what kernels have allocated and left, as far as the guard has seen it. */
void gmod_guard_update_stats(const struct gmod_context *only);

/*
 * One heap, with its context entered and current and no pass or turn being launched: for what the program asks.
 * GMOD_NO_HEAP, or GMOD_BUSY where others have been at the heaps for 2 s.
 */
enum gmod_status gmod_guard_visit(const struct gmod_context *c, void (*look)(struct gmod_heap *h, void *arg),
				  void *arg);

void gmod_guard_pause(void);
void gmod_guard_resume(void);

static inline bool gmod_guard_pause_begin(void)
{
	bool aside = __builtin_expect(atomic_load_explicit(&gmod_hot.residents, memory_order_relaxed) != 0, 0);

	if (aside)
		gmod_guard_pause();
	return aside;
}

static inline void gmod_guard_pause_end(const bool *aside)
{
	if (*aside)
		gmod_guard_resume();
}

/* To the end of the enclosing block. */
#define GMOD_GUARD_PAUSED \
	const bool gmod_paused __attribute__((cleanup(gmod_guard_pause_end), unused)) = gmod_guard_pause_begin()

#endif
