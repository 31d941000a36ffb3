/* Whose turn it is to look at canaries, and when all were last looked at. */
#ifndef GMOD_MONITOR_WATCH_SWEPT_H
#define GMOD_MONITOR_WATCH_SWEPT_H

#include <stdbool.h>

#include "lib/base/clock.h"

/* Wait for the sweep lock for at most this long; 0: only if it is free now. false: not taken. */
bool gmod_sweep_lock(uint64_t timeout_ns);
void gmod_sweep_unlock(void);

/* When the latest complete sweep began; set by the holder of the lock. */
struct gmod_moment gmod_sweep_latest(void);
void gmod_sweep_set_latest(struct gmod_moment began);

#endif
