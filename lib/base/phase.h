/*
 * Whether GMOD works in this process, now.
 *
 * The flag lives on a page that the kernel wipes in a forked child: a child finds GMOD off without having to look at
 * its pid, before it can touch a key, a record or a lock that another thread of the parent held. The key of the
 * canaries lives on the same page, kept out of core dumps too, and so do the other flags that hooks look at.
 *
 *     OFF ──gmod_start()──► ON ──gmod_finish()──► WINDING_DOWN
 *      ▲                     │  (exit)                       │
 *      └──────────fork───────┴───────────────────────────────┘
 *
 * WINDING_DOWN: no new buffer is guarded, frees of guarded buffers still work, the monitor reads nothing any more.
 */
#ifndef GMOD_LIB_BASE_PHASE_H
#define GMOD_LIB_BASE_PHASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/types.h>

#include "lib/base/scope.h"

enum gmod_phase { GMOD_OFF, GMOD_ON, GMOD_WINDING_DOWN };

/* The largest that kernels for the processor have. */
#if defined(__aarch64__)
enum { GMOD_HOST_PAGE = 65536 };
#else
enum { GMOD_HOST_PAGE = 4096 };
#endif
enum { GMOD_SEVERAL = 1 }; /* no context's handle, see gmod_hot.context */

/*
 * What every hook looks at and hardly anything writes comes first: one cache line, because a launch mostly finds the
 * caches full of something else and pays for each line and each page it touches.
 */
struct gmod_hot {
	_Atomic int phase;      /* OFF until gmod_phase_arm() and in a forked child */
	atomic_int captures;    /* under way in the process (lib/context/capture.h) */
	atomic_int sleeping;    /* 1: the monitor sleeps until something happens (monitor/launches/activity.h) */
	atomic_int fences;      /* 1: the monitor fences for all threads */
	_Atomic uint64_t units; /* bit 0: the program has some (device/units.h); the rest changes whenever they do */
	_Atomic uint64_t
	    context;          /* the only one there has been, 0: none yet, or GMOD_SEVERAL (lib/context/context.h) */
	atomic_int ordered;   /* stream-ordered buffers that wait for the next kernel (lib/buffers/ordered.h) */
	atomic_int keeper;    /* enum gmod_keeper: of the driver's exception dump (lib/faults/keeper.h) */
	atomic_int counter;   /* 1: the processor's counter tells the time (lib/base/clock.h) */
	atomic_int python;    /* not 0: there is a Python whose frames can be read (lib/base/python.h) */
	atomic_int journal;   /* 1: launches are told to the journal (monitor/launches/journal.h) */
	atomic_int confirm;   /* 1: suspects' launches are looked at (lib/buffers/confirm.h) */
	atomic_int suspended; /* gmod_suspend() without its gmod_continue(): nothing new is guarded, no look is asked */
	uint64_t key[2];      /* of the canaries; set by gmod_phase_arm() */
	pid_t process;        /* set with it, and 0 in a forked child: whoever needs its pid asks for it then */
} __attribute__((aligned(GMOD_HOST_PAGE)));

extern struct gmod_hot gmod_hot;

static inline enum gmod_phase gmod_phase(void)
{
	/* acquire: whoever sees ON sees what gmod_start() set up before */
	return (enum gmod_phase)atomic_load_explicit(&gmod_hot.phase, memory_order_acquire);
}

static inline bool gmod_on(void)
{
	return __builtin_expect(gmod_phase() == GMOD_ON, 1);
}

/*
 * Make the page private, with a fresh key. false: no random bytes, or no memory. Where the kernel has no
 * MADV_WIPEONFORK a child that was made without fork() keeps the page as it was.
 */
bool gmod_phase_arm(void);
void gmod_phase_set(enum gmod_phase phase);

/*
 * GMOD has started, and in this process: false in a forked child, where everything stays native, and in a vfork child,
 * which shares our memory, flag included, but is not us.
 */
bool gmod_phase_is_ours(void);

/* True when the loader runs this process in secure-execution mode (set-user-ID and the like). */
static inline bool gmod_secure(void)
{
	return getauxval(AT_SECURE) != 0;
}

/*
 * Work that the driver's clean-up at exit must not overtake: memory that it takes away being written or read. Touch
 * buffers only if gmod_busy_begin() says that GMOD is on. The thread cannot be cancelled in between: the count would
 * stay up, and the end of the process wait for nobody.
 *
 *     worker                              gmod_finish()
 *     busy += 1           (seq_cst)       phase = WINDING_DOWN      (seq_cst)
 *     if phase is ON: touch memory        while busy: wait, within reason
 *     busy -= 1           (release)       let the driver clean up
 *
 * gmod_busy_wait() does not wait for the calling thread's own work: a signal handler that ends the process has
 * interrupted it for good.
 */
struct gmod_busy {
	bool on;
	struct gmod_cancel cancel;
};

struct gmod_busy gmod_busy_begin(void);
void gmod_busy_end(struct gmod_busy b);
void gmod_busy_wait(unsigned milliseconds);

#endif
