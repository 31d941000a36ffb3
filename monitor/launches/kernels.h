/*
 * What a thread has launched, by function and stream: how often, when first and when last. The ring of launch records
 * holds the latest 256 launches, and a program that runs ahead of the GPU has more under way: of those that the ring
 * has lost, the kernels are still known from here.
 *
 * Launches are counted in three spans, each a time from a first launch to a latest one:
 *
 *     newest ──all of older is complete──► older ──► done, with what was done before
 *
 * A launch goes to `newest`. When all of `older` has been noted as complete, the next launch moves it to `done`, and
 * `newest` to `older`. So a kernel that is launched again and again without a pause gives up its past, as far as that
 * is complete, and nothing is dropped that a look at a canary may still ask for. Where a part of `done` is asked for,
 * all of it is told: launches may be too many, never too few.
 *
 * Of the first launches of each newest span the addresses among the arguments leave marks, so that who asks long after
 * knows which kernels cannot have had a buffer's address, and which may have: a mark is a bit of 128 by the address.
 * With more launches all marks are set. Those of `newest` and `older` are together, and those of `done` are of all its
 * time.
 *
 * The thread writes its spans, and who looks for proofs writes what is complete. All of them are relaxed atomics. A
 * reader takes newest, older and done in this order, and a span is written to where it goes before it is cleared where
 * it was: a reader may count a launch twice, and misses none.
 */
#ifndef GMOD_MONITOR_LAUNCHES_KERNELS_H
#define GMOD_MONITOR_LAUNCHES_KERNELS_H

#include "lib/base/hash.h"
#include "monitor/launches/arguments.h"
#include "monitor/launches/thread.h"

/* Places of a thread, and one for launches that find none; a process has some hundred kernels. */
enum { GMOD_KERNEL_BITS = 10, GMOD_KERNELS = 1 << GMOD_KERNEL_BITS, GMOD_NO_PLACE = GMOD_KERNELS };

struct gmod_span {
	_Atomic uint64_t latest, first; /* ticks */
	_Atomic uint64_t count;         /* 0: no launch, and the rest means nothing */
};

/* The first cache line is all that a launch touches as a rule: older.latest is its last word. */
struct gmod_kernel {
	_Atomic uint64_t function, stream; /* function 0: nobody's place */
	_Atomic uint64_t complete;         /* all launches up to these ticks were noted as complete, */
	_Atomic uint64_t complete_since;   /* ... and when that was noted */
	struct gmod_span newest, older, done;
	_Atomic uint64_t done_since;
	_Atomic uint64_t context;
	_Atomic uint32_t is_graph;
};
_Static_assert(offsetof(struct gmod_kernel, older.first) == 64, "what a launch touches is in the first cache line");
_Static_assert(sizeof(struct gmod_kernel) == 128, "a place is two cache lines");

enum { GMOD_MARKED_LAUNCHES = 8 };
struct gmod_marks {
	_Atomic uint64_t recent[GMOD_MARK_WORDS], done[GMOD_MARK_WORDS];
};

/* Of one thread; made at its first launch. */
struct gmod_kernels {
	_Alignas(128) struct gmod_kernel place[GMOD_KERNELS + 1];
	struct gmod_marks marks[GMOD_KERNELS + 1]; /* of the place of that number */
	_Atomic uint64_t forgotten;           /* what was complete by then may have had a place that is another's now */
	_Atomic uint32_t used;                /* so many places were ever taken, */
	_Atomic uint16_t order[GMOD_KERNELS]; /* ... in this order */
};

static inline unsigned gmod_kernel_start(uint64_t function, uint64_t stream)
{
	return (unsigned)(gmod_hash(function ^ gmod_hash(stream)) >> (64 - GMOD_KERNEL_BITS));
}

/* The place is not at its start, its older launches are complete, it has few newer ones, or there is none yet. */
void gmod_kernel_count_elsewhere(struct gmod_thread *t, const struct gmod_launch *l, uint64_t ticks);

/* One more launch, which the driver has accepted. */
static inline __attribute__((always_inline)) void gmod_kernel_count(struct gmod_thread *t, const struct gmod_launch *l,
								    uint64_t ticks)
{
	uint64_t function = atomic_load_explicit(&l->function, memory_order_relaxed);
	uint64_t stream = atomic_load_explicit(&l->stream, memory_order_relaxed);
	struct gmod_kernels *all = atomic_load_explicit(&t->kernels, memory_order_relaxed);
	struct gmod_kernel *k = all ? &all->place[gmod_kernel_start(function, stream)] : NULL;

	if (__builtin_expect(!k || atomic_load_explicit(&k->function, memory_order_relaxed) != function ||
				 atomic_load_explicit(&k->stream, memory_order_relaxed) != stream ||
				 atomic_load_explicit(&k->older.latest, memory_order_relaxed) <=
				     atomic_load_explicit(&k->complete, memory_order_relaxed) ||
				 atomic_load_explicit(&k->newest.count, memory_order_relaxed) <= GMOD_MARKED_LAUNCHES,
			     0)) {
		gmod_kernel_count_elsewhere(t, l, ticks);
		return;
	}
	atomic_store_explicit(&k->newest.latest, ticks, memory_order_relaxed);
	atomic_store_explicit(&k->newest.count, atomic_load_explicit(&k->newest.count, memory_order_relaxed) + 1,
			      memory_order_release);
}

/*
 * Notes which launches are complete, for gmod_kernels_next(): those that are proven (gmod_proven(), of
 * monitor/launches/proof.h); rests: all are. Under the lock of gmod_proof_remember().
 */
typedef bool gmod_is_proven(uint64_t context, uint64_t stream, uint64_t ticks);
void gmod_kernels_look(struct gmod_thread *t, gmod_is_proven *is_proven, bool rests);

/* Launches of one kernel on one stream by one thread. */
struct gmod_seen_launches {
	const struct gmod_thread *thread;
	uint64_t number; /* of a launch by itself, whose record was whole while it was copied; else GMOD_NO_NUMBER */
	uint64_t function, stream, context;
	uint64_t first, latest, count;      /* ticks; of all of them */
	uint32_t grid[3], block[3], python; /* by the record */
	bool is_graph;
	bool has_no_place;               /* they are of any kernels and streams */
	uint64_t marks[GMOD_MARK_WORDS]; /* without a record */
};
#define GMOD_NO_NUMBER UINT64_MAX

/* The next launches of a thread that were not noted as complete by `at`, *i of 0 at first; false: there are no more. */
bool gmod_kernels_next(const struct gmod_thread *t, uint64_t at, uint32_t *i, struct gmod_seen_launches *seen);
/* Asked behind the last: up to these ticks launches of kernels that are not told may be missing; 0: none are. */
uint64_t gmod_kernels_forgotten(const struct gmod_thread *t, uint64_t at);

#endif
