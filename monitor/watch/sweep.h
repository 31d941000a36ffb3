/*
 * Sweeps: one pass over all live records.
 *
 * A sweep compares, for every record, the line next to the user's bytes on both sides with the words remembered for
 * it, and all of a few records' zones in turn, so that a quiet heap costs two cache lines of canary and three of our
 * own memory a buffer. What has changed goes to monitor/watch/damage.c. One thread sweeps at a time.
 */
#ifndef GMOD_MONITOR_WATCH_SWEEP_H
#define GMOD_MONITOR_WATCH_SWEEP_H

#include "monitor/registry/registry.h"
#include "monitor/watch/swept.h"

/* One regular sweep. The caller holds the lock. */
void gmod_sweep(void);

/* Every visible byte of every live record. The caller holds the lock, or ends the process and has GMOD_PIN_EXIT. */
void gmod_sweep_thorough(enum gmod_pin pin);

/* The same with the lock taken, as long as GMOD guards. false: others held it for `deadline` ns. */
bool gmod_sweep_all(uint64_t deadline);

#endif
