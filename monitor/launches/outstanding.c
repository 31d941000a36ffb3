#include "monitor/launches/outstanding.h"

#include "monitor/launches/launch.h"
#include "monitor/launches/proof.h"

/* A slot that changes hands while we look is taken as busy: the next look is soon. */
static bool slot_outstanding(const struct gmod_last_launch *last)
{
	uint64_t stream = atomic_load_explicit(&last->stream, memory_order_acquire);
	uint64_t context = atomic_load_explicit(&last->context, memory_order_relaxed);
	uint64_t ticks = atomic_load_explicit(&last->ticks, memory_order_relaxed);

	if (!stream)
		return false;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&last->stream, memory_order_relaxed) != stream ||
	       !gmod_proven(context, stream, ticks);
}

static bool thread_outstanding(const struct gmod_thread *t)
{
	uint64_t crowded = atomic_load_explicit(&t->crowded_ticks, memory_order_acquire);

	if (gmod_launch_under_way(t))
		return true;
	if (crowded && !gmod_proven(atomic_load_explicit(&t->crowded_context, memory_order_relaxed), 0, crowded))
		return true;
	for (unsigned i = 0; i < GMOD_STREAMS_PER_THREAD; i++)
		if (slot_outstanding(&t->last[i]))
			return true;
	return false;
}

bool gmod_work_outstanding(void)
{
	for (struct gmod_thread *t = gmod_threads(); t; t = t->next)
		if (thread_outstanding(t))
			return true;
	return false;
}
