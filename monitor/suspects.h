/* Who could have done it: launches not proven complete when the canary was last seen intact. */
#ifndef GMOD_MONITOR_SUSPECTS_H
#define GMOD_MONITOR_SUSPECTS_H

#include "monitor/finding.h"

/*
 * Fill the suspects of *f, latest launch first: every launch that was not known to be complete at `intact` ticks.
 * Launches of one kernel are counted together. An hour-long kernel launched long before is a suspect; one that a
 * synchronise had proven done is not.
 */
void gmod_suspects_find(struct gmod_finding *f, uint64_t intact);

#endif
