/*
 * A lock for a few memory accesses; never held across a driver call, or anything else that waits for the program. Two
 * are held for longer: the log's while a piece is written (lib/base/log.c), and that of who looks at memory in stream
 * order (lib/buffers/ordered_judge.c).
 *
 * Taking it may fail. Its holder may be this very thread, interrupted by a signal whose handler ends the process or
 * jumps: a caller goes on without rather than for ever. Who can, keeps signals away while it holds one
 * (gmod_scope_begin()).
 */
#ifndef GMOD_LIB_BASE_LOCK_H
#define GMOD_LIB_BASE_LOCK_H

#include <sched.h>
#include <stdatomic.h>

#include "lib/base/deadline.h"

/* False when others have held it for a second. Acquire: what the last holder wrote is visible. */
static inline bool gmod_lock(atomic_flag *lock)
{
	uint64_t deadline = GMOD_SECONDS(1);

	for (int i = 0; atomic_flag_test_and_set_explicit(lock, memory_order_acquire); i++)
		if (i < 20)
			sched_yield();
		else if (!gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10))
			return false;
	return true;
}

static inline void gmod_unlock(atomic_flag *lock)
{
	atomic_flag_clear_explicit(lock, memory_order_release);
}

#endif
