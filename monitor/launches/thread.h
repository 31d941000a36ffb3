/*
 * The threads of the program that call the driver. Each has one struct gmod_thread, written by that thread only: a
 * counter that every launch, copy, fill and synchronisation bumps (monitor/launches/activity.h), a ring of launch
 * records, for each stream it launched on the time of its last launch (monitor/launches/launch.h), counts of its
 * kernels (monitor/launches/kernels.h), and what it passed to them (monitor/launches/arguments.h). A hook on a launch
 * touches nothing that another thread writes, so its cost does not grow with the number of threads.
 */
#ifndef GMOD_MONITOR_LAUNCHES_THREAD_H
#define GMOD_MONITOR_LAUNCHES_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GMOD_RING = 256, GMOD_STREAM_BITS = 6, GMOD_STREAMS_PER_THREAD = 1 << GMOD_STREAM_BITS };
enum { GMOD_CROWD = GMOD_STREAMS_PER_THREAD }; /* the place in last[] of the streams that found none there */

#define GMOD_IN_CALL UINT64_MAX
#define GMOD_NOT_LAUNCHED 0
#define GMOD_NO_CONTEXT UINT64_MAX

/* One kernel, cooperative or graph launch. Fields are relaxed atomics: readers race with the ring's reuse. */
struct gmod_launch {
	_Atomic uint64_t ticks; /* when the call returned, GMOD_IN_CALL, or GMOD_NOT_LAUNCHED (it failed) */
	_Atomic uint64_t context;
	_Atomic uint64_t stream;   /* stream key, see monitor/launches/stream_key.h */
	_Atomic uint64_t function; /* CUfunction, CUkernel or CUgraphExec */
	_Atomic uint32_t grid[3], block[3];
	_Atomic uint32_t is_graph;
	_Atomic uint32_t python; /* where it was launched (lib/base/python.h) */
};
_Static_assert(sizeof(struct gmod_launch) == 64, "a launch record is one cache line");

struct gmod_kernels;
struct gmod_arguments;

struct gmod_last_launch {
	_Atomic uint64_t stream, context, ticks;
};

/*
 * The first cache line is all of it that a launch touches as a rule, where the program launches on one default stream,
 * and, with `next`, all that others read of a thread that has done nothing since they last looked.
 */
struct gmod_thread {
	_Atomic uint64_t activity;
	_Atomic uint64_t launches; /* records written so far; the next goes to ring[launches % GMOD_RING] */
	_Atomic uint64_t rested;   /* gmod_thread_events() when all that had been launched was seen complete */
	/* Each set once, at the first launch; NULL: there was no memory for it. */
	_Atomic(struct gmod_kernels *) kernels;
	_Atomic(struct gmod_arguments *) arguments;
	struct gmod_last_launch last[GMOD_CROWD + 1];
	struct gmod_thread *next;      /* set once, when it joins the list */
	_Atomic uint64_t crowded_from; /* the number of the crowd's first launch that is not proven complete */
	/* What has been seen complete (monitor/launches/proof.c): so many launches from the first, others by
	 * themselves, */
	uint64_t settled;
	struct gmod_complete {
		_Atomic uint64_t number, since; /* from 1; in ticks */
	} complete[GMOD_RING];
	_Atomic uint64_t last_complete[GMOD_CROWD + 1]; /* and those of these times */
	uint64_t number; /* of the record; makes the key of the thread's own default stream */
	int64_t tid;
	atomic_bool in_use;
	_Alignas(64) struct gmod_launch ring[GMOD_RING];
};
_Static_assert(offsetof(struct gmod_thread, last[1]) == 64, "the first place in last[] ends the first cache line");

/* Once, before the first thread is met: `leave` is called by each one that ends, in which the record is its own. */
void gmod_thread_init(void (*leave)(struct gmod_thread *t));

/* This thread's record, made at first use; NULL when memory is out. */
__attribute__((cold)) struct gmod_thread *gmod_thread_make(void);
extern __thread struct gmod_thread *gmod_thread_here __attribute__((tls_model("initial-exec")));

static inline struct gmod_thread *gmod_thread_self(void)
{
	struct gmod_thread *t = gmod_thread_here;

	return __builtin_expect(t != NULL, 1) ? t : gmod_thread_make();
}

/* The list of all threads' records; records are reused, never freed. */
extern _Atomic(struct gmod_thread *) gmod_thread_list;
static inline struct gmod_thread *gmod_threads(void)
{
	return atomic_load_explicit(&gmod_thread_list, memory_order_acquire);
}

/* Grows with each launch, as its call begins, and once it has been noted that something holds a stream. */
static inline uint64_t gmod_thread_events(const struct gmod_thread *t)
{
	return atomic_load_explicit(&t->launches, memory_order_acquire) +
	       atomic_load_explicit(&t->activity, memory_order_acquire);
}

/* The launch that a thread is in, NULL if it is in none. */
static inline struct gmod_launch *gmod_launch_under_way(struct gmod_thread *t)
{
	uint64_t n = atomic_load_explicit(&t->launches, memory_order_acquire);
	struct gmod_launch *l = n ? &t->ring[(n - 1) % GMOD_RING] : NULL;

	/* acquire: see gmod_launch_end() */
	return l && atomic_load_explicit(&l->ticks, memory_order_acquire) == GMOD_IN_CALL ? l : NULL;
}

#endif
