/*
 * The end of a context: who keeps something for each context is told.
 *
 *     begin ──► BEFORE: all is as ever ──► DYING, and nobody uses it ──► BEGIN ──► the program's own call
 *                                                                                        │
 *               gone for good, the entry is free  ◄── COMMIT ◄── commit ◄─── it is gone ┤
 *               alive as before                   ◄── CANCEL ◄── cancel ◄─ it stays ────┘
 *
 * One teardown of a context at a time. A thread whose call may end the same context meanwhile waits until the first
 * one's is over, 5 s at most, and then goes on natively: what that does to the context is not seen. No program is known
 * that destroys a context in two threads at once; primary contexts, which several libraries of a process release, have
 * their turns before that (lib/context/primary.h).
 *
 * From begin to commit or cancel the calling thread must not end: its hook holds cancellation off.
 */
#ifndef GMOD_LIB_CONTEXT_TEARDOWN_H
#define GMOD_LIB_CONTEXT_TEARDOWN_H

#include "lib/context/context.h"

enum gmod_context_event {
	GMOD_CONTEXT_BEFORE, /* perhaps more than once, and perhaps for nothing */
	GMOD_CONTEXT_BEGIN,
	GMOD_CONTEXT_COMMIT,
	GMOD_CONTEXT_CANCEL,
	GMOD_CONTEXT_EVENTS
};

struct gmod_context_listener {
	void (*on[GMOD_CONTEXT_EVENTS])(struct gmod_context *c); /* NULL: nothing */
};

/* At the start, before there is any context. They are told in the order in which they have come. */
void gmod_context_listen(const struct gmod_context_listener *listener);

/*
 * A driver call of the program returned a sticky error, in a context that may not be the current one: what is broken is
 * found out, told of BEGIN, and left alone from then on until it ends. The first to notice reports it.
 */
__attribute__((cold)) void gmod_context_failed(CUresult error, const char *entry_point);
/* The same where a call of ours did, of which the program does not know. */
void gmod_context_broke(CUresult error, const char *entry_point);

/* The sticky error of one of the contexts, by what the driver says now, or SUCCESS. */
CUresult gmod_context_error(void);
/* Has a call of the program's ever come back with one, in whatever context? */
bool gmod_context_was_told(void);

/* NULL: the context has no entry, or others are at it, and the call goes on natively. */
struct gmod_context *gmod_context_teardown_begin(CUcontext handle);
void gmod_context_teardown_commit(struct gmod_context *c);
void gmod_context_teardown_cancel(struct gmod_context *c);

#endif
