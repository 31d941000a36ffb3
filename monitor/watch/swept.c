#include "monitor/watch/swept.h"

#include <pthread.h>

#include "lib/base/scope.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gmod_cancel cancel_before; /* under the lock: whether its holder could be cancelled before */
static struct gmod_stamp latest;
__thread bool gmod_is_monitor;
_Atomic unsigned gmod_progress;

static bool take_lock(uint64_t timeout_ns)
{
	struct timespec until = gmod_time_in(timeout_ns);

	return pthread_mutex_timedlock(&lock, &until) == 0;
}

bool gmod_sweep_lock(uint64_t timeout_ns)
{
	struct gmod_cancel cancel = gmod_cancel_begin();

	if (!take_lock(timeout_ns)) {
		gmod_cancel_end(cancel);
		return false;
	}
	cancel_before = cancel;
	return true;
}

void gmod_sweep_unlock(void)
{
	struct gmod_cancel cancel = cancel_before;

	pthread_mutex_unlock(&lock);
	gmod_cancel_end(cancel);
}

struct gmod_moment gmod_sweep_latest(void)
{
	return gmod_stamp_get(&latest);
}

void gmod_sweep_set_latest(struct gmod_moment began)
{
	gmod_stamp_set(&latest, began);
}
