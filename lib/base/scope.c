#include "lib/base/scope.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

sigset_t gmod_outside_signals(void)
{
	static const int synchronous[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(synchronous) / sizeof(synchronous[0]); i++)
		sigdelset(&set, synchronous[i]);
	return set;
}

/*
 * Besides what arrives from outside this blocks what a write can raise: SIGPIPE; SIGXFSZ past RLIMIT_FSIZE; SIGTTOU,
 * which would stop a background job (with it blocked the terminal just takes the output).
 */
void gmod_scope_begin(struct gmod_scope *h)
{
	sigset_t block = gmod_outside_signals(), pending;

	h->cancel = gmod_cancel_begin();
	pthread_sigmask(SIG_BLOCK, &block, &h->mask);
	sigpending(&pending);
	h->pending_pipe = sigismember(&pending, SIGPIPE);
	h->pending_size = sigismember(&pending, SIGXFSZ);
}

/* Take back those that we raised, and only those: what was pending before stays pending. */
void gmod_scope_end(const struct gmod_scope *h)
{
	const struct timespec zero = {0, 0};
	int saved = errno;
	sigset_t ours;

	sigemptyset(&ours);
	if (!h->pending_pipe)
		sigaddset(&ours, SIGPIPE);
	if (!h->pending_size)
		sigaddset(&ours, SIGXFSZ);
	while (sigtimedwait(&ours, NULL, &zero) > 0 || errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &h->mask, NULL);
	errno = saved;
	gmod_cancel_end(h->cancel);
}
