/* Whose turn it is to look at canaries, when all were last looked at, and that the monitor gets on with it. */
#ifndef GMOD_MONITOR_WATCH_SWEPT_H
#define GMOD_MONITOR_WATCH_SWEPT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "lib/base/clock.h"

/* Wait for the sweep lock for at most this long; 0: only if it is free now. false: not taken. */
bool gmod_sweep_lock(uint64_t timeout_ns);
void gmod_sweep_unlock(void);

/* When the latest complete sweep began; set by the holder of the lock. */
struct gmod_moment gmod_sweep_latest(void);
void gmod_sweep_set_latest(struct gmod_moment began);

/* The monitor's thread: which one it is, and how often it has got on. */
extern __thread bool gmod_is_monitor __attribute__((tls_model("initial-exec")));
extern _Atomic unsigned gmod_progress;

/* In the monitor's own thread: it is not stuck. In others: nothing. */
static inline void gmod_monitor_progress(void)
{
	if (gmod_is_monitor)
		atomic_fetch_add_explicit(&gmod_progress, 1, memory_order_relaxed);
}

#endif
