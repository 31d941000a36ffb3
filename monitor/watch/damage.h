/*
 * From a changed canary to a report: what has been seen of each damaged side, and when a report says so. A free, a
 * context's end, gmod_check() and the exit look at canaries, and the sweep does once a line has changed.
 *
 * A side of a buffer is damaged once. At first sight it is reported as PROVISIONAL if kernels that could be writing
 * still run. It is reported as FINAL once all work is proven done, or the damage has not grown for
 * GMOD_DAMAGE_SETTLE_NS, and a look at its slack has begun since; or when the buffer is freed or the process ends.
 * Later changes of a reported side are not news.
 *
 * A sighting may come from the sweep, from the gather, or from the thread that frees the buffer. The caller
 * owns the record or holds the sweep lock and a pin on it.
 */
#ifndef GMOD_MONITOR_WATCH_DAMAGE_H
#define GMOD_MONITOR_WATCH_DAMAGE_H

#include "lib/base/clock.h"
#include "monitor/registry/finding.h"
#include "monitor/registry/registry.h"

#define GMOD_DAMAGE_SETTLE_NS ((uint64_t)100000000)

/* What a look has found. */
struct gmod_sighting {
	struct gmod_record *record;
	struct gmod_details *details; /* the record's */
	uint64_t word;                /* generation: which buffer */
	enum gmod_side side;
	struct gmod_diff diff;
	const uint8_t *observed; /* bytes found from diff.first on */
	uint32_t observed_count; /* GMOD_OBSERVED_MAX at most */
	struct gmod_moment intact, seen;
	bool last;                 /* nobody will look again: the buffer is freed, the context goes, the process ends */
	uint64_t stream, from, to; /* struct gmod_window */
};

/*
 * Before the first one: who is to know of each finding with several suspects that has been told for good, and of the
 * buffer that it was found in, which may be gone. Called under a lock, for memory work only.
 */
void gmod_damage_listen(void (*told)(const struct gmod_finding *f, struct gmod_record *r, uint64_t word));

void gmod_damage_sighting(const struct gmod_sighting *s);

/* These bytes of the side were looked at and are as they should be: put back, if they cover all that had changed. */
void gmod_damage_intact(const struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_range bytes);

/* The slack of a side was looked at by a gather that began then. */
void gmod_damage_slack_seen(const struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_moment when);
/*
 * Positions of buffers with a final report that is to come, or of those only that wait for a look at their slack first:
 * how many, `most` at most.
 */
enum { GMOD_DAMAGES = 256 }; /* there are no more of them */
unsigned gmod_damage_open(bool wants_slack, uint32_t *positions, unsigned most);

/* True while a final report is still to come. */
bool gmod_damage_pending(void);

/* Give final reports where due. all: give all that are pending. */
void gmod_damage_settle(bool all);

/* The buffer goes away: its pending reports become final. */
void gmod_damage_released(const struct gmod_record *r, uint64_t word);

#endif
