/*
 * Canaries in memory that the CPU does not see: how they get there, and how a look at them comes back.
 *
 * A look is a copy of redzone bytes into pinned memory. Where it lands is filled with the complement of the canary
 * before the copy is asked for. So no byte is what it should be before it has come, and nobody has to ask the driver
 * whether an intact one has.
 *
 * Canaries of a record go through its context's own stream; those of memory in stream order (lib/buffers/ordered.h)
 * through the program's. What fails is counted.
 */
#ifndef GMOD_LIB_BUFFERS_LOOK_H
#define GMOD_LIB_BUFFERS_LOOK_H

#include "lib/context/context.h"
#include "monitor/registry/registry.h"

/* ---- a canary that the device fills in, in a stream ---- */

/* By one word of 4 bytes, or by one byte where the user's end is no multiple of 4. The record is the caller's. */
void gmod_fill_choose(struct gmod_record *r);
CUresult gmod_fill_ask(const struct gmod_record *r, CUstream stream);

/* ---- one look ---- */

/* From here on an answer may come to that pinned memory: the copy goes into the stream. false: the driver refused it.
 */
bool gmod_look_ask(const struct gmod_canary *c, struct gmod_range what, uint8_t *to, CUstream stream);

/*
 * COMES: 8 bytes in a row or more have not come yet. CHANGED: it has changed, or the rest of it is still on its way. At
 * most GMOD_LOOK_BYTES, which go to `bytes` as they are now; *diff says what differs.
 */
enum gmod_look_answer { GMOD_LOOK_COMES, GMOD_LOOK_INTACT, GMOD_LOOK_CHANGED };
enum gmod_look_answer gmod_look_answer(const struct gmod_canary *c, struct gmod_range what, const uint8_t *came,
				       uint8_t *bytes, struct gmod_diff *diff);

/* What a copy brings has all come so much later than its first byte. */
#define GMOD_LOOK_SETTLES GMOD_MILLISECONDS(2)

/* May that be still on its way? *changed_ns: when it was first seen changed, monotonic; 0: it was not. */
bool gmod_look_is_coming(enum gmod_look_answer answer, uint64_t *changed_ns);

/* An event behind all that is in a stream of the current context; NULL: there is none. */
CUevent gmod_event_behind(CUstream stream);

/* What goes into that stream from here on comes behind all that has been asked for in the context's own stream. */
void gmod_look_precede(const struct gmod_context *c, CUstream stream);

/* ---- all canaries of a buffer that the caller owns ---- */

/* Has the buffer canaries that the CPU does not see? */
bool gmod_slack_is_far(const struct gmod_record *r);

/*
 * Those that the CPU sees are written, the others on their way from *sent (NULL: there are none). false: there is no
 * memory, or the driver would not; what was sent is waited for all the same.
 */
bool gmod_slack_write(struct gmod_record *r, struct gmod_slack **sent);
/* Waits for them, and *sent is taken back. false: they were not there after some 2 ms. */
bool gmod_slack_arrives(const struct gmod_record *r, struct gmod_slack *sent);
/* Have they been late for so long that the next would be, too? Then nobody sends any. */
bool gmod_slack_is_held_up(const struct gmod_context *c);

/*
 * The last look, which no kernel writes to any more: asked for, NULL where it cannot be had, and then there. false: it
 * did not come, or is as it was written and no finding is pending.
 */
struct gmod_slack *gmod_slack_ask(const struct gmod_record *r);
bool gmod_slack_came(const struct gmod_record *r, const struct gmod_slack *slack);
/* After either, before the buffer's context may go. NULL is none. */
void gmod_slack_done(const struct gmod_record *r, struct gmod_slack *slack);

/* ---- pinned memory ---- */

/*
 * Of the current context, c: its staging or its looks, made at their first need; NULL: there is none. Where the
 * gather's copies land; and where looks at memory in stream order do, GMOD_LOOK_BYTES each: one for each block, and
 * some for those that live, and for launches that are looked at after a finding (lib/buffers/confirm.h).
 */
enum { GMOD_STAGING = 144 << 10 };
enum { GMOD_LOOKS = 8192, GMOD_LOOKS_LIVING = 16, GMOD_LOOKS_CONFIRM = 16, GMOD_LOOK_BYTES = 128 };
uint8_t *gmod_pinned(struct gmod_context *c, struct gmod_pinned *p);

#endif
