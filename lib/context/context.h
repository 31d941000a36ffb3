/*
 * The CUDA contexts GMOD has met: which device, and GMOD's own stream in it.
 *
 * GMOD never retains or creates a context. An entry lives from the first allocation in a context, or the first module
 * there whose kernels allocate, until the context is destroyed; a driver call of the monitor's in somebody's context
 * happens only inside gmod_context_use_begin()/_end(), the other half of which is gmod_context_teardown_begin():
 *
 *     monitor                                   thread that destroys the context
 *     users += 1            (seq_cst)           state = DYING            (seq_cst)
 *     if state is ALIVE: driver calls           while users: wait
 *     users -= 1            (release)           destroy
 *
 * the same handshake as gmod_pin() (monitor/registry/registry.h), with the context for the record.
 *
 * The wait has a bound of 5 s: the monitor may be stuck in a driver call that does not return, and a program that
 * waited for that would hang where it does not natively. After that the context is destroyed with that one call under
 * way, which is what the driver's manual warns of; it can at worst fail or fault where the driver was stuck already.
 * Nothing follows it: inside, the state is looked at before each call, and a call in a context that has been destroyed
 * is refused (measured: CONTEXT_IS_DESTROYED). The entry is not used again while anybody is in there.
 */
#ifndef GMOD_LIB_CONTEXT_CONTEXT_H
#define GMOD_LIB_CONTEXT_CONTEXT_H

#include <stdatomic.h>

#include "lib/base/clock.h"
#include "lib/context/capture.h"
#include "lib/driver/driver.h"

enum { GMOD_CONTEXTS = 64 };

/* BROKEN: a sticky error is its last word. Nobody uses it, and it has no guarded buffers any more. */
enum gmod_context_state { GMOD_CONTEXT_NONE, GMOD_CONTEXT_ALIVE, GMOD_CONTEXT_BROKEN, GMOD_CONTEXT_DYING };

struct gmod_patrol;
struct gmod_heap;

/* Pages in which copies land, pinned for a context at its first need of them (lib/buffers/look.c). */
struct gmod_pinned {
	void *own;                /* once and for all */
	_Atomic(uint8_t *) pages; /* these, or, where the driver does not take them, what it has given */
	_Atomic unsigned life;    /* for whom they are pinned; 0: nobody */
	_Atomic unsigned refused; /* for whom the driver would not */
	_Atomic uint64_t taken;   /* a bit each, for who shares them out */
};

/* How the gather waits for its copies; under its lock (lib/buffers/gather.c). */
struct gmod_gathering {
	CUevent gathered;
	unsigned life; /* whose it is */
	bool overdue;  /* copies of an earlier gather may still be on their way */
};

/* A buffer of GMOD_EXPORT_PAGE bytes (lib/context/wait.h). */
struct gmod_tiny {
	_Atomic uint64_t at;
	_Atomic unsigned life; /* whose it is */
	atomic_flag making;
};

struct gmod_context {
	_Atomic(CUcontext) handle;
	atomic_int state;
	atomic_int users;
	_Atomic unsigned ends; /* contexts that this entry has stood for and that have ended */
	int was;               /* its state before it was DYING */
	int device;
	atomic_bool no_heap; /* there was no memory for a heap: then no module of the context gets one later */
	/* Non-blocking; NULL: could not be made. One only: a look at canaries must not overtake their arrival. */
	CUstream stream;

	/*
	 * What is kept for the context, each by the file that is named. A life says whose it is (gmod_context_life()):
	 * what an earlier context had went with it. Pages stay with the entry, for its next one.
	 */
	struct gmod_tiny filled;            /* by probes: lib/context/fault.c */
	_Atomic uint64_t probed;            /* gmod_activity_total() when the last one was asked for that came back */
	_Alignas(64) struct gmod_tiny tiny; /* keeps waits short, and may hold the canaries of a buffer behind it */
	struct gmod_pinned looks, staging;
	struct gmod_gathering gathering;
	/* Monotonic: since when canaries come late, each of them; 0: the latest was not. lib/buffers/look.c */
	_Atomic uint64_t late_since;
	_Atomic(struct gmod_patrol *) patrol; /* lib/buffers/patrol.c */
	_Atomic uint64_t units;               /* gmod_hot.units when all were filled here: device/loading.c */
	_Atomic(struct gmod_heap *) heap;     /* device/heaps.c */
};

extern struct gmod_context gmod_contexts[GMOD_CONTEXTS];

static inline struct gmod_context *gmod_context_at(unsigned i)
{
	return &gmod_contexts[i];
}

/* The entry's place, below GMOD_CONTEXTS. */
static inline unsigned gmod_context_index(const struct gmod_context *c)
{
	return (unsigned)(c - gmod_contexts);
}

/* Which of its contexts the entry stands for, from 1: with that one goes what was kept for it. */
static inline unsigned gmod_context_life(const struct gmod_context *c)
{
	return atomic_load_explicit(&c->ends, memory_order_acquire) + 1;
}

/*
 * The program has met a context: it has created or retained it, made it current, loaded a module or allocated there. As
 * long as that is always the same one, hooks need not ask which one is current (gmod_hot.context): asking takes 6 ns
 * (measured), and more where a program has filled the caches with its own. All but the last two are hooked as far as
 * the toolkit's headers have them without OpenGL's and VDPAU's: a context of those, or one made by an entry point that
 * is newer, is met by its first module or allocation. A kernel of a library that was loaded before, launched there
 * before that, is taken for one of the only context's; a wait is not (gmod_waited_stream).
 */
void gmod_context_met(CUcontext handle);

/*
 * Whose is what is made in the current context: the context's own, or, where that is a green one, its device's primary
 * context's, with which it goes and by which it is freed (measured on driver 580). Green contexts have no entries:
 * memory that is allocated in one is native and counted.
 */
struct gmod_owner {
	CUcontext context; /* NULL: none is current */
	bool green;
};
struct gmod_owner gmod_current_owner(void);

/* Known to be no green one: a primary context, or one that has an entry. */
bool gmod_context_is_whole(CUcontext handle);

/* The entry of who owns what is made here; NULL if there is none. */
struct gmod_context *gmod_context_owner(void);

/* The entry of the current context, made if need be; NULL without one, in a green one, or when the table is full. */
struct gmod_context *gmod_context_current(void);
/* The entry for a handle, NULL if it has none. _known: also one that is broken or being torn down. */
struct gmod_context *gmod_context_of(CUcontext handle);
struct gmod_context *gmod_context_known(CUcontext handle);

bool gmod_context_use_begin(struct gmod_context *c);
void gmod_context_use_end(struct gmod_context *c);
/* The same with the context current; false: it is not, and is not used. */
bool gmod_context_enter(struct gmod_context *c);
void gmod_context_leave(struct gmod_context *c);
/* For who is inside, before each call: is the context not dying meanwhile, nor the process at its end? */
bool gmod_may_call(const struct gmod_context *c);

/*
 * Make c the current context for calls of ours, if it is not. Returns whether gmod_context_visit_end() has to undo it;
 * a failure is counted, and the calls then run in the context that is current.
 */
bool gmod_context_visit_begin(const struct gmod_context *c);
bool gmod_context_is_current(const struct gmod_context *c);
void gmod_context_visit_end(bool visited);

#endif
