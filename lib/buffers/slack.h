/*
 * The canaries beside a buffer in memory that the CPU does not see: how they get there, and how they are read for the
 * last time. lib/buffers/gather.c reads them while the buffer lives.
 *
 * All of it in the buffer's context; copies go through the context's own stream. What fails is counted.
 */
#ifndef GMOD_LIB_BUFFERS_SLACK_H
#define GMOD_LIB_BUFFERS_SLACK_H

#include "lib/context/context.h"
#include "monitor/registry/registry.h"

/* Has the buffer such canaries? */
bool gmod_slack_is_far(const struct gmod_record *r);

/*
 * All canaries of a buffer that the caller owns: those that the CPU sees are written, the others on their way from
 * *sent (NULL: there are none). false: there is no memory, or the driver would not; what was sent is waited for all the
 * same.
 */
bool gmod_slack_write(struct gmod_record *r, struct gmod_slack **sent);
/* Waits for them, and *sent is taken back. false: they were not there after some 2 ms. */
bool gmod_slack_arrives(const struct gmod_record *r, struct gmod_slack *sent);
/* Have they been late for so long that the next would be, too? Then nobody sends any. */
bool gmod_slack_is_held_up(const struct gmod_context *c);

/*
 * The last look at what is beside a buffer that the caller owns, and that no kernel writes to any more: asked for, NULL
 * where it cannot be had, and then there. false: it did not come, or is as it was written and no finding is pending.
 */
struct gmod_slack *gmod_slack_ask(const struct gmod_record *r);
bool gmod_slack_came(const struct gmod_record *r, const struct gmod_slack *slack);
/* After either, before the buffer's context may go. NULL is none. */
void gmod_slack_done(const struct gmod_record *r, struct gmod_slack *slack);

/* What is sent and read goes through these pages from now on: pinned in the context, until it goes. */
#define GMOD_SLACK_PINNED ((size_t)128 << 10)
void gmod_slack_pinned(struct gmod_context *c, void *pages);

#endif
