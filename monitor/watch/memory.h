/*
 * What is guarded over time, and where it was allocated when it was most: the event `memory` of a JSON log at
 * verbosity 1. The monitor takes samples of what the registry counts anyway. When these have grown by a sixteenth
 * beyond the latest walk, it walks over the registry and adds up by stack. No hook takes part.
 */
#ifndef GMOD_MONITOR_WATCH_MEMORY_H
#define GMOD_MONITOR_WATCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct gmod_memory_sample {
	uint64_t ns; /* CLOCK_REALTIME */
	uint64_t bytes, buffers;
};

/* Samples at even intervals: when it is full every second one goes, and the interval doubles. Zeros: an empty one. */
enum { GMOD_MEMORY_SAMPLES = 256 };
struct gmod_memory_curve {
	struct gmod_memory_sample sample[GMOD_MEMORY_SAMPLES];
	unsigned count;
	uint64_t interval_ns;
};

/* Of one thread. last: it is not asked whether its time has come. */
void gmod_memory_curve_add(struct gmod_memory_curve *c, const struct gmod_memory_sample *s, bool last);

/* A round of the monitor's. */
void gmod_memory_tick(void);
uint64_t gmod_memory_leisure(void);

/* Does the log want the event? */
bool gmod_memory_is_wanted(void);
/* Writes it, once: the thread that gives reports. It reads files for the names of functions, for 0.2 s at most. */
void gmod_memory_say(void);

#endif
