/*
 * Waiting for something that should come soon, but not for ever.
 *
 *     uint64_t deadline = GMOD_SECONDS(2);
 *
 *     while (!there && gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
 *             ;
 *
 * Only time slept counts, and of each nap at most 100 ms more than was asked for. So signals do not shorten the
 * deadline, and a process or a machine that was stopped does not lose it.
 */
#ifndef GMOD_LIB_BASE_DEADLINE_H
#define GMOD_LIB_BASE_DEADLINE_H

#include <sched.h>
#include <stdbool.h>

#include "lib/base/clock.h"

/* Sleep for ns, or less when a signal comes; false, at once, when the deadline is used up. */
static inline bool gmod_nap(uint64_t *deadline, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	uint64_t began = gmod_monotonic_ns(), took;

	if (!*deadline)
		return false;
	nanosleep(&t, NULL);
	took = gmod_monotonic_ns() - began + 1;
	if (took > ns + GMOD_MILLISECONDS(100))
		took = ns + GMOD_MILLISECONDS(100);
	*deadline -= took < *deadline ? took : *deadline;
	return true;
}

/*
 * For what another thread does in a moment: it is let run, and after a thousand turns this one sleeps in between, so
 * that it burns no CPU, and starves nobody of a lower priority.
 */
static inline void gmod_spin(unsigned *turns)
{
	uint64_t ever = UINT64_MAX;

	if ((*turns)++ < 1000)
		sched_yield();
	else
		gmod_nap(&ever, GMOD_MILLISECONDS(1) / 10);
}

#endif
