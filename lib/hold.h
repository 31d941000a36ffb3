/*
 * Signals and cancellation held off in this thread, so that no handler can jump, and no pthread_cancel() unwind, out
 * of a report half made. May nest; gmod_log_*() do it by themselves. SIGPIPE raised in between is taken back.
 */
#ifndef GMOD_LIB_HOLD_H
#define GMOD_LIB_HOLD_H

#include <signal.h>
#include <stdbool.h>

struct gmod_hold {
	sigset_t mask; /* the program's */
	int cancel;
	bool pending_pipe, pending_size;
};

void gmod_hold(struct gmod_hold *h);
void gmod_let_go(const struct gmod_hold *h);

#endif
