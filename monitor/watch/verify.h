/*
 * Looks at a buffer's canaries, and when bytes that differ were last known intact. What they find goes to
 * monitor/watch/damage.h.
 */
#ifndef GMOD_MONITOR_WATCH_VERIFY_H
#define GMOD_MONITOR_WATCH_VERIFY_H

#include "lib/base/clock.h"
#include "monitor/registry/registry.h"

/*
 * VISIBLE: the zones that live on the host. ALL: also the slack beside the body, which the CPU reads where it lies.
 * COPIED: the slack as it was copied from a body that the CPU cannot read.
 */
enum gmod_verify { GMOD_VERIFY_VISIBLE, GMOD_VERIFY_ALL, GMOD_VERIFY_COPIED };

/*
 * The caller owns the record (RELEASING): a last look, and pending reports of it become final. swept: the latest sweep
 * as of before the caller owned it, which looked at it. slack: for COPIED only.
 */
void gmod_verify_released(struct gmod_record *r, enum gmod_verify what, const struct gmod_slack *slack,
			  struct gmod_moment swept);

/*
 * The caller holds the sweep lock and a pin on the record, which is LIVE with that word. Looks at the visible zone of
 * one side, whole. swept: the latest sweep.
 */
void gmod_verify_pinned(struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_moment swept);

/* Slack bytes of one side, as copied from the device; the same callers. when: just before the copy was asked for. */
void gmod_verify_copied(struct gmod_record *r, uint64_t word, enum gmod_side side, struct gmod_range slack,
			const uint8_t *bytes, struct gmod_moment when, struct gmod_moment swept);

#endif
