/*
 * max_cpu as an account: what the monitor may take of a core, in ns of CPU time.
 *
 * Rounds are charged what they cost, and the time that passes pays. The next round waits as long as time needs to pay
 * what is owed. What a quiet program leaves over is saved, for as much as half a second, and so much is there at first,
 * so that a short job is watched at the full rate.
 *
 * What a round takes beyond that which 1 ms pays is put off, and half of what time pays goes to it: a gather that costs
 * as much as many sweeps, or a host that took the CPU away in the middle of a round, would else leave a gap of a
 * hundred times its cost, in which nobody looks at a buffer. An eighth of what was put off is charged
 * with each round, too, so that rounds which are all dear are charged whole: no more than eight are put off.
 *
 * Each is used by one thread. With a share of 0 nothing is paid, and from the second round on pauses are as long as
 * they may be.
 */
#ifndef GMOD_MONITOR_WATCH_BUDGET_H
#define GMOD_MONITOR_WATCH_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define GMOD_PAUSE_MAX ((uint64_t)500000000) /* ns between two sweeps, however much is owed */

struct gmod_budget {
	unsigned share;     /* of a core, as the option has it: GMOD_PERCENT_ONE is 1 % */
	int64_t debt;       /* what is owed; negative: saved */
	uint64_t put_off;   /* spent, and not owed yet */
	uint64_t cpu, wall; /* both clocks when the round began */
};

/* A thread begins that has taken `cpu` ns so far, at `wall` ns of any clock that goes on. */
void gmod_budget_open(struct gmod_budget *b, unsigned share, uint64_t cpu, uint64_t wall);

/* A round is over, and another one begins. Not charged it costs nothing, but its time pays all the same. */
void gmod_budget_round(struct gmod_budget *b, uint64_t cpu, uint64_t wall, bool charged);

/* ns until the next round may begin; at most GMOD_PAUSE_MAX. */
uint64_t gmod_budget_pause(const struct gmod_budget *b);

/* ns that pay for so much CPU time with that share; GMOD_PAUSE_MAX where nothing does. */
uint64_t gmod_budget_ns_for(unsigned share, uint64_t cpu);

#endif
