/*
 * Holding off, in this thread, what would cut short what the library does.
 */
#ifndef GMOD_LIB_BASE_SCOPE_H
#define GMOD_LIB_BASE_SCOPE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/*
 * Cancellation alone, where a thread may wait for the GPU and its signals must get through: locks are given back,
 * counts go down again, and a finding that has been taken is said. May nest.
 *
 * The type is set as well as the state: with the state alone glibc 2.36 cancels a thread asynchronously that was about
 * to hold that off. Of a cancellation that arrives while a thread enters the bracket with the asynchronous type no more
 * is promised: POSIX lets such a thread call no function of this library.
 */
struct gmod_cancel {
	int state, type; /* the program's */
};

static inline struct gmod_cancel gmod_cancel_begin(void)
{
	struct gmod_cancel c;

	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &c.type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c.state);
	return c;
}

/* A thread that has been cancelled asynchronously meanwhile ends in here. */
static inline void gmod_cancel_end(struct gmod_cancel c)
{
	pthread_setcancelstate(c.state, NULL);
	pthread_setcanceltype(c.type, NULL);
}

/*
 * Every signal but those that a thread raises by what it does: blocked, these end the process without a word, and a
 * sandbox that traps system calls (SIGSYS) lives by its handler. SIGABRT is not among them: abort() unblocks it, and
 * sent from outside it may be for a thread that waits for it.
 */
sigset_t gmod_outside_signals(void);

/*
 * Signals and cancellation, so that no handler can jump, and no pthread_cancel() unwind, out of a report half made. May
 * nest; gmod_log_*() do it by themselves. SIGPIPE raised in between is taken back.
 */
struct gmod_scope {
	sigset_t mask; /* the program's */
	struct gmod_cancel cancel;
	bool pending_pipe, pending_size;
};

void gmod_scope_begin(struct gmod_scope *h);
void gmod_scope_end(const struct gmod_scope *h);

#endif
