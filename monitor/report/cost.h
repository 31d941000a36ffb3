/* What GMOD takes of the process and of the device: the clocks of its threads, and counts times what one has taken. */
#ifndef GMOD_MONITOR_REPORT_COST_H
#define GMOD_MONITOR_REPORT_COST_H

#include "lib/base/counters.h"

struct gmod_cost {
	uint64_t cpu_ns;   /* CPU time of GMOD's threads */
	uint64_t hooks_ns; /* of the program's threads in hooks: estimated */
	uint64_t gpu_ns;   /* of the device for looks: estimated */
	uint64_t run_ns;   /* since GMOD began; 0: it has not */
};

/* Once, before others are there: who counts the calls that the hooks note. */
void gmod_cost_init(uint64_t (*calls)(void));

/* So far. From any thread and from signal handlers. */
struct gmod_cost gmod_cost_of(const struct gmod_counts *count);

#endif
