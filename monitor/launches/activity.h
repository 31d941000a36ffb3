/*
 * That something happened on the GPU, and the sleep of the monitor, which that ends.
 *
 *   launching thread                              monitor, before it sleeps
 *   activity += 1          (release)              sleeping = 1             (seq_cst)
 *   compiler barrier                              membarrier: a full fence in every running thread
 *   if sleeping: wake                             if any activity changed: stay awake
 *
 * Either the monitor sees the bump or the launching thread sees that it sleeps (tests/models/wake.pml). A fence in the
 * launching thread would wait for the doorbell that its driver call has just written across the bus. Where the kernel
 * has no membarrier (before 4.14, or forbidden) the launching thread fences after all.
 */
#ifndef GMOD_MONITOR_LAUNCHES_ACTIVITY_H
#define GMOD_MONITOR_LAUNCHES_ACTIVITY_H

#include "lib/base/phase.h"
#include "monitor/launches/thread.h"

/* End the monitor's sleep, if it sleeps. */
__attribute__((cold)) void gmod_activity_wake(void);

/* Something happened that the monitor must look at: one more complete sweep will follow. */
static inline __attribute__((always_inline)) void gmod_note_activity(struct gmod_thread *t)
{
	/* release: who counts it sees the buffers and the launches that there were by then */
	atomic_store_explicit(&t->activity, atomic_load_explicit(&t->activity, memory_order_relaxed) + 1,
			      memory_order_release);
	/* The bump is visible before we look whether the monitor sleeps; see the top of this file. */
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.fences, memory_order_relaxed), 1))
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.sleeping, memory_order_relaxed), 0))
		gmod_activity_wake();
}

/* The program did something that may have changed memory, or may have waited for something that did. */
static inline void gmod_noted(void)
{
	struct gmod_thread *t = gmod_on() ? gmod_thread_self() : NULL;

	if (t)
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

#endif
