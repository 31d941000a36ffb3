/*
 * The records of what a thread launches.
 *
 * Times are ticks (gmod_ticks). A launch is stamped when its driver call has returned; while the call is under
 * way its stamp is GMOD_IN_CALL. A synchronisation that began at tick T and succeeded therefore covers exactly
 * the launches stamped before T (monitor/launches/proof.h).
 */
#ifndef GMOD_MONITOR_LAUNCHES_LAUNCH_H
#define GMOD_MONITOR_LAUNCHES_LAUNCH_H

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/python.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/kernels.h"
#include "monitor/launches/stream_key.h"

/* Open a launch record, before the driver is called; close it after, with whether the launch was accepted. */
static inline __attribute__((always_inline)) struct gmod_launch *
gmod_launch_begin(struct gmod_thread *t, uint64_t context, uint64_t stream, uint64_t function, bool is_graph)
{
	uint64_t n = atomic_load_explicit(&t->launches, memory_order_relaxed);
	struct gmod_launch *l = &t->ring[n % GMOD_RING];
	bool python = __builtin_expect(atomic_load_explicit(&gmod_hot.python, memory_order_relaxed), 0);

	/* release fence: who reads any of these in the place of an old record finds that the count has passed it */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&l->ticks, GMOD_IN_CALL, memory_order_relaxed);
	atomic_store_explicit(&l->context, context, memory_order_relaxed);
	atomic_store_explicit(&l->stream, stream, memory_order_relaxed);
	atomic_store_explicit(&l->function, function, memory_order_relaxed);
	atomic_store_explicit(&l->is_graph, is_graph, memory_order_relaxed);
	atomic_store_explicit(&l->python, python ? gmod_python_here(gmod_launch_frames) : 0, memory_order_relaxed);
	/* release: the record is filled in for a reader that sees the count */
	atomic_store_explicit(&t->launches, n + 1, memory_order_release);
	return l;
}

/* The place in last[] where a stream is looked for first; for default streams the first one. */
static inline unsigned gmod_last_launch_start(uint64_t stream)
{
	unsigned is_handle = !(stream & (GMOD_KEY_LEGACY | GMOD_KEY_PER_THREAD));

	return (unsigned)(gmod_hash(stream) >> (64 - GMOD_STREAM_BITS)) & -is_handle;
}

/* The latest launch on a stream that is not at its first place in last[]. */
void gmod_note_last_launch(struct gmod_thread *t, uint64_t context, uint64_t stream, uint64_t ticks);

/* In line: see lib/hooks/launching.h. */
static inline __attribute__((always_inline)) void gmod_launch_end(struct gmod_thread *t, struct gmod_launch *l,
								  bool accepted)
{
	uint64_t ticks = __builtin_expect(accepted, 1) ? gmod_ticks() : GMOD_NOT_LAUNCHED;
	uint64_t stream = atomic_load_explicit(&l->stream, memory_order_relaxed);
	struct gmod_last_launch *last = &t->last[gmod_last_launch_start(stream)];

	/* The next record was written 256 launches ago: have it fetched while the program does something else. */
	__builtin_prefetch(&t->ring[atomic_load_explicit(&t->launches, memory_order_relaxed) % GMOD_RING], 1);
	if (__builtin_expect(accepted, 1)) {
		if (__builtin_expect(atomic_load_explicit(&last->stream, memory_order_relaxed) == stream, 1))
			atomic_store_explicit(&last->ticks, ticks, memory_order_release);
		else
			gmod_note_last_launch(t, atomic_load_explicit(&l->context, memory_order_relaxed), stream,
					      ticks);
		gmod_kernel_count(t, l, ticks);
	}
	/* Last: until then the launch is in its call, and so outstanding, for whoever does not find it above yet. */
	atomic_store_explicit(&l->ticks, ticks, memory_order_release);
	gmod_note_activity(t);
}

/*
 * For gmod_thread_init(): the thread ends, and its own default streams with it. Its record outlives it: its launches
 * may still run. One that was cancelled inside the driver does not know what became of its launch: it may run.
 */
void gmod_launch_abandon(struct gmod_thread *t);

#endif
