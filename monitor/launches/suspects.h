/* Who could have done it: launches not proven complete when the canary was last seen intact. */
#ifndef GMOD_MONITOR_LAUNCHES_SUSPECTS_H
#define GMOD_MONITOR_LAUNCHES_SUSPECTS_H

#include "monitor/launches/kernels.h"
#include "monitor/registry/finding.h"

/* The launches among the suspects' that were not proven complete when the suspects were found, as far as they fit. */
struct gmod_unfinished {
	uint32_t count;
	struct gmod_unfinished_launches {
		struct gmod_seen_launches launches;
		uint32_t suspect; /* index in the finding */
	} at[GMOD_RING];
};

/*
 * When it can have been: by what was not known to be complete at `intact` ticks. Of one stream only by what was
 * launched between two of ticks, where the looks were in its order; 0: there is no such stream.
 */
struct gmod_window {
	uint64_t intact;
	uint64_t stream, from, to;
};

/*
 * Fill the suspects of *f as far as it has room: every launch of that window. First those whose arguments point at the
 * buffer, or close to the bytes that were changed, which *f has to tell by now; of those that say as much, the one of
 * fewer launches, then the latest. Launches of one kernel are counted together. An hour-long kernel launched long
 * before is a suspect; one that a synchronise had proven done is not. *unfinished is for gmod_suspects_refresh(), or
 * NULL.
 */
void gmod_suspects_find(struct gmod_finding *f, const struct gmod_window *when, struct gmod_unfinished *unfinished);

/*
 * The suspects stay who they were; which of their launches are not proven complete is said anew. A launch of which
 * nothing is known any more does not count.
 */
void gmod_suspects_refresh(struct gmod_finding *f, const struct gmod_unfinished *unfinished);

/*
 * That window's launches of the kernel that have a record (not by graphs): the latest of all threads first, as many as
 * fit.
 */
uint32_t gmod_suspects_launches(const char *kernel, const struct gmod_window *when, struct gmod_seen_launches *out,
				uint32_t room);

#endif
