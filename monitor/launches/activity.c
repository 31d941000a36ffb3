#include "monitor/launches/activity.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/futex.h"

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

void gmod_activity_init(void)
{
	int saved = errno;

	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
		atomic_store_explicit(&gmod_hot.fences, 1, memory_order_relaxed);
	errno = saved;
}

void gmod_activity_wake(void)
{
	int saved = errno;

	if (atomic_exchange_explicit(&gmod_hot.sleeping, 0, memory_order_acq_rel))
		gmod_futex_wake(&gmod_hot.sleeping);
	errno = saved;
}

bool gmod_activity_barrier(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&gmod_hot.fences, memory_order_relaxed) ||
	    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
		return true;
	atomic_store_explicit(&gmod_hot.fences, 0, memory_order_relaxed);
	return false;
}

uint64_t gmod_activity_total(void)
{
	uint64_t total = 0;

	for (struct gmod_thread *t = gmod_threads(); t; t = t->next)
		/* acquire: what was before it is looked at by who looks now */
		total += atomic_load_explicit(&t->activity, memory_order_acquire);
	return total;
}

void gmod_activity_sleep(uint64_t since, const atomic_int *stop, uint64_t ns)
{
	atomic_store_explicit(&gmod_hot.sleeping, 1, memory_order_seq_cst);
	/* The flag is visible before we look at the counters; see the header. */
	if (gmod_activity_barrier() && gmod_activity_total() == since &&
	    !atomic_load_explicit(stop, memory_order_acquire))
		gmod_futex_wait(&gmod_hot.sleeping, 1, ns);
	atomic_store_explicit(&gmod_hot.sleeping, 0, memory_order_relaxed);
}
