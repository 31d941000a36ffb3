#include "lib/base/loaded.h"

#include <pthread.h>

#include "lib/base/clock.h"
#include "lib/base/scope.h"

static pthread_mutex_t walking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static __thread bool held __attribute__((tls_model("initial-exec"))); /* by this thread, which forks */
static bool forked;

int gmod_loaded_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
	sigset_t outside = gmod_outside_signals(), before;
	int r;

	/* A profiler's handler may walk, too, and would wait for the thread that it has interrupted. */
	pthread_sigmask(SIG_BLOCK, &outside, &before);
	pthread_mutex_lock(&walking);
	r = dl_iterate_phdr(visit, arg);
	pthread_mutex_unlock(&walking);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

bool gmod_is_forked(void)
{
	return forked;
}

/* Who forks in a constructor has the loader's lock, which a walk may be waiting for: no wait without an end. */
static void before_fork(void)
{
	struct timespec until = gmod_time_in(GMOD_MILLISECONDS(100));

	held = pthread_mutex_timedlock(&walking, &until) == 0;
}

static void in_parent(void)
{
	if (held)
		pthread_mutex_unlock(&walking);
}

static void in_child(void)
{
	walking = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	forked = true;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}
