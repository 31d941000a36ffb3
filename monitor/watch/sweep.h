/*
 * Sweeps: one pass over all live records.
 *
 * A sweep compares, for every record, the line next to the user's bytes on both sides with the words remembered for
 * it, and a few further lines in rotation, so that a quiet heap costs two cache lines of canary and three of our own
 * memory a buffer. What has changed goes to monitor/watch/verify.c. One thread sweeps at a time.
 */
#ifndef GMOD_MONITOR_SWEEP_H
#define GMOD_MONITOR_SWEEP_H

#include "monitor/watch/damage.h"

/* Wait for the sweep lock for at most this long; 0: only if it is free now. false: not taken. */
bool gmod_sweep_lock(uint64_t timeout_ns);
void gmod_sweep_unlock(void);

/* One regular sweep. The caller holds the lock. */
void gmod_sweep(void);

/* Every visible byte of every live record. The caller holds the lock, or ends the process and has GMOD_PIN_EXIT. */
void gmod_sweep_thorough(enum gmod_pin pin);

/* When the latest complete sweep began. */
struct gmod_moment gmod_sweep_latest(void);

#endif
