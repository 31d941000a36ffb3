/*
 * What the program's threads do on the GPU, as the monitor needs to know it.
 *
 * Each thread that calls the driver has one struct gmod_thread, written by that thread only: a counter that every
 * launch, copy, fill and synchronisation bumps, a ring of launch records, and for each stream it launched on the time
 * of its last launch. A hook on a launch touches nothing that another thread writes, so its cost does not grow with
 * the number of threads.
 *
 *   launching thread                              monitor, before it sleeps
 *   activity += 1          (relaxed)              sleeping = 1             (seq_cst)
 *   compiler barrier                              membarrier: a full fence in every running thread
 *   if sleeping: wake                             if any activity changed: stay awake
 *
 * Either the monitor sees the bump or the launching thread sees that it sleeps (tests/models/wake.pml). A fence in the
 * launching thread would wait for the doorbell that its driver call has just written across the bus. Where the kernel
 * has no membarrier (before 4.14, or forbidden) the launching thread fences after all.
 *
 * Times are TSC ticks (gmod_ticks). A launch is stamped when its driver call has returned; while the call is under
 * way its stamp is GMOD_IN_CALL. A synchronisation that began at tick T and succeeded therefore covers exactly
 * the launches stamped before T (monitor/launches/proof.h).
 */
#ifndef GMOD_MONITOR_ACTIVITY_H
#define GMOD_MONITOR_ACTIVITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/phase.h"
#include "monitor/launches/proof.h"

enum { GMOD_RING = 256, GMOD_STREAMS_PER_THREAD = 16 };

#define GMOD_IN_CALL UINT64_MAX
#define GMOD_NOT_LAUNCHED 0
#define GMOD_NO_CONTEXT UINT64_MAX

/* One kernel, cooperative or graph launch. Fields are relaxed atomics: readers race with the ring's reuse. */
struct gmod_launch {
	_Atomic uint64_t ticks; /* when the call returned, GMOD_IN_CALL, or GMOD_NOT_LAUNCHED (it failed) */
	_Atomic uint64_t context;
	_Atomic uint64_t stream;   /* stream key, see monitor/launches/proof.h */
	_Atomic uint64_t function; /* CUfunction, CUkernel or CUgraphExec */
	_Atomic uint32_t grid[3], block[3];
	_Atomic uint32_t is_graph;
	uint32_t padding;
};
_Static_assert(sizeof(struct gmod_launch) == 64, "a launch record is one cache line");

struct gmod_last_launch {
	_Atomic uint64_t stream, context, ticks;
	uint64_t padding;
};

/* The first cache line is all of it that a launch touches as a rule, where the program launches on one default stream.
 */
struct gmod_thread {
	_Atomic uint64_t activity;
	_Atomic uint64_t launches; /* records written so far; the next goes to ring[launches % GMOD_RING] */
	struct gmod_launch *ring;
	int64_t tid; /* makes the key of its own default stream, too */
	struct gmod_last_launch last[GMOD_STREAMS_PER_THREAD];
	_Atomic uint64_t crowded_ticks; /* last launch on a stream that found no slot in last[] */
	_Atomic uint64_t crowded_context;
	struct gmod_thread *next; /* set once, when it joins the list */
	atomic_bool in_use;
};
_Static_assert(offsetof(struct gmod_thread, last[1]) == 64, "the first place in last[] ends the first cache line");

/* This thread's record, made at first use; NULL when memory is out. */
__attribute__((cold)) struct gmod_thread *gmod_thread_make(void);
extern __thread struct gmod_thread *gmod_thread_here __attribute__((tls_model("initial-exec")));

static inline struct gmod_thread *gmod_thread_self(void)
{
	struct gmod_thread *t = gmod_thread_here;

	return __builtin_expect(t != NULL, 1) ? t : gmod_thread_make();
}

/* The list of all threads' records; records are reused, never freed. */
struct gmod_thread *gmod_threads(void);

/* End the monitor's sleep, if it sleeps. */
__attribute__((cold)) void gmod_activity_wake(void);

/* Something happened that the monitor must look at: one more complete sweep will follow. */
static inline void gmod_note_activity(struct gmod_thread *t)
{
	atomic_store_explicit(&t->activity, atomic_load_explicit(&t->activity, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	/* The bump is visible before we look whether the monitor sleeps; see the top of this file. */
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.fences, memory_order_relaxed), 1))
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.sleeping, memory_order_relaxed), 0))
		gmod_activity_wake();
}

/* Open a launch record, before the driver is called; close it after, with whether the launch was accepted. */
static inline struct gmod_launch *gmod_launch_begin(struct gmod_thread *t, uint64_t context, uint64_t stream,
						    uint64_t function, bool is_graph)
{
	uint64_t n = atomic_load_explicit(&t->launches, memory_order_relaxed);
	struct gmod_launch *l = &t->ring[n % GMOD_RING];

	atomic_store_explicit(&l->ticks, GMOD_IN_CALL, memory_order_relaxed);
	atomic_store_explicit(&l->context, context, memory_order_relaxed);
	atomic_store_explicit(&l->stream, stream, memory_order_relaxed);
	atomic_store_explicit(&l->function, function, memory_order_relaxed);
	atomic_store_explicit(&l->is_graph, is_graph, memory_order_relaxed);
	/* release: the record is filled in for a reader that sees the count */
	atomic_store_explicit(&t->launches, n + 1, memory_order_release);
	return l;
}

/* The place in last[] where a stream is looked for first; for default streams (monitor/launches/proof.h) the first one.
 */
static inline unsigned gmod_last_launch_start(uint64_t stream)
{
	unsigned is_handle = !(stream & (GMOD_KEY_LEGACY | GMOD_KEY_PER_THREAD));

	return (unsigned)(gmod_hash(stream) >> 60) & -is_handle;
}

/* The latest launch on a stream that is not at its first place in last[]. */
void gmod_note_last_launch(struct gmod_thread *t, uint64_t context, uint64_t stream, uint64_t ticks);

static inline void gmod_launch_end(struct gmod_thread *t, struct gmod_launch *l, bool accepted)
{
	uint64_t ticks = __builtin_expect(accepted, 1) ? gmod_ticks() : GMOD_NOT_LAUNCHED;
	uint64_t stream = atomic_load_explicit(&l->stream, memory_order_relaxed);
	struct gmod_last_launch *last = &t->last[gmod_last_launch_start(stream)];

	/* The next record was written 256 launches ago: have it fetched while the program does something else. */
	__builtin_prefetch(&t->ring[atomic_load_explicit(&t->launches, memory_order_relaxed) % GMOD_RING], 1);
	atomic_store_explicit(&l->ticks, ticks, memory_order_release);
	if (__builtin_expect(accepted, 1)) {
		if (__builtin_expect(atomic_load_explicit(&last->stream, memory_order_relaxed) == stream, 1))
			atomic_store_explicit(&last->ticks, ticks, memory_order_release);
		else
			gmod_note_last_launch(t, atomic_load_explicit(&l->context, memory_order_relaxed), stream,
					      ticks);
	}
	gmod_note_activity(t);
}

/* Before the first activity: have the monitor fence for all threads, if the kernel lets it. */
void gmod_activity_init(void);
/*
 * The monitor, between its flag and its look at the counters: orders them against every thread's bump and look. false:
 * the kernel would not, this time; threads fence for themselves from now on.
 */
bool gmod_activity_barrier(void);
/*
 * The monitor sleeps until woken by activity, or for ns; it returns at once if there was any since the counters added
 * up to `since`, or if *stop is not 0.
 */
void gmod_activity_sleep(uint64_t since, const atomic_int *stop, uint64_t ns);

/* Sum of all threads' counters: changes whenever anything was noted. */
uint64_t gmod_activity_total(void);
/* True while a launch is not proven complete, or still inside its driver call. */
bool gmod_work_outstanding(void);

#endif
