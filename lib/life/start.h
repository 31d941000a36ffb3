/*
 * Starting and stopping: after the program's first successful cuInit, and at its exit.
 *
 * Everything here is filled by gmod_start() and read-only afterwards, but for the counters. gmod_start() runs once, in
 * the thread whose cuInit succeeded, after that call; a second thread that comes meanwhile goes on unguarded.
 */
#ifndef GMOD_LIB_START_H
#define GMOD_LIB_START_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/options.h"

const struct gmod_options *gmod_options(void);
size_t gmod_page_size(void);

/* Called with the driver initialised; does nothing when GMOD has started, is disabled, or cannot work here. */
void gmod_start(void);

/*
 * Something of ours failed and the program went on without it: counted, and said once for each `what` at
 * verbosity 2.
 */
void gmod_degraded(const char *what);

struct gmod_counters {
	_Atomic uint64_t guarded, guarded_bytes;         /* device buffers guarded, of those asked for by cuMemAlloc* */
	_Atomic uint64_t unprotected, unprotected_bytes; /* ... and those that stayed native */
	_Atomic uint64_t uncovered, uncovered_bytes;     /* pools, VMM, graph nodes: no guard for them yet */
	_Atomic uint64_t host, host_bytes;               /* pinned host buffers guarded */
	/* of buffers that kernels allocate: those seen so far, left at the end, and findings for which there was no
	 * room */
	_Atomic uint64_t kernel_buffers, kernel_left, kernel_left_bytes, kernel_lost;
	_Atomic uint64_t degraded;
	_Atomic uint64_t sweeps;
};
extern struct gmod_counters gmod_counters;

static inline void gmod_count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* Once true: the first time that it is asked of this flag, by whatever thread. For what is said or done once. */
static inline bool gmod_first_time(atomic_bool *before)
{
	return !atomic_exchange_explicit(before, true, memory_order_relaxed);
}

/* As gmod_degraded(), where the caller has a line of its own: counted each time, and true when it is to be said. */
static inline bool gmod_degraded_first(atomic_bool *said)
{
	gmod_count(&gmod_counters.degraded, 1);
	return gmod_first_time(said);
}

/*
 * The last look at everything, the summary, and no more guarding. Safe to call more than once, from any thread, and
 * from a signal handler that has interrupted anything. It makes no driver call and takes no lock without a bound: the
 * monitor looks, and if it is stuck for 2 s, the caller does what can be done by loads alone.
 *
 * GMOD_BY_EXIT: the driver's clean-up follows. GMOD_AT_ONCE: nothing does, and the caller may be a signal handler.
 */
enum gmod_ending { GMOD_BY_EXIT, GMOD_AT_ONCE };
void gmod_finish(enum gmod_ending how);

/*
 * The closing line and what goes before it, once: whoever comes second waits for the first, 1 s at most. Without
 * allocating, asking the driver, or a lock that anybody holds for longer than a line takes to write.
 */
void gmod_say_the_last(void);

/* What a process that ends by itself with `status` exits with: `exitcode` with exit_on_findings=1 and a finding. */
int gmod_exit_status(int status);

#endif
