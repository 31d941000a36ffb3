#include "lib/context/context.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "device/heaps.h"
#include "device/units.h"
#include "lib/driver/errors.h"
#include "lib/base/scope.h"
#include "lib/base/log.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "monitor/registry/index.h"

static struct gmod_context contexts[GMOD_CONTEXTS];

struct gmod_context *gmod_context_at(unsigned i)
{
	return i < GMOD_CONTEXTS ? &contexts[i] : NULL;
}

unsigned gmod_context_index(const struct gmod_context *c)
{
	return (unsigned)(c - contexts);
}

void gmod_context_met(CUcontext handle)
{
	uint64_t met = (uint64_t)(uintptr_t)handle;
	uint64_t before = atomic_load_explicit(&gmod_hot.context, memory_order_relaxed);

	if (!met || before == met || before == GMOD_SEVERAL)
		return;
	/* relaxed: who hands a context to another thread does so after this, and in an order of its own */
	if (before || (!atomic_compare_exchange_strong_explicit(&gmod_hot.context, &before, met, memory_order_relaxed,
								memory_order_relaxed) &&
		       before != met))
		atomic_store_explicit(&gmod_hot.context, GMOD_SEVERAL, memory_order_relaxed);
}

CUstreamCaptureMode gmod_relaxed_begin(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	if (NEXT(cuThreadExchangeStreamCaptureMode)(&mode) != CUDA_SUCCESS)
		gmod_degraded("cuThreadExchangeStreamCaptureMode");
	return mode;
}

void gmod_relaxed_end(CUstreamCaptureMode before)
{
	NEXT(cuThreadExchangeStreamCaptureMode)(&before);
}

bool gmod_context_is_current(const struct gmod_context *c)
{
	CUcontext current = NULL;

	return NEXT(cuCtxGetCurrent)(&current) == CUDA_SUCCESS &&
	       current == atomic_load_explicit(&c->handle, memory_order_relaxed);
}

bool gmod_context_visit_begin(const struct gmod_context *c)
{
	if (gmod_context_is_current(c))
		return false;
	if (NEXT(cuCtxPushCurrent_v2)(atomic_load_explicit(&c->handle, memory_order_relaxed)) == CUDA_SUCCESS)
		return true;
	gmod_degraded("cuCtxPushCurrent");
	return false;
}

void gmod_context_visit_end(bool visited)
{
	CUcontext popped;

	if (visited && NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
		gmod_degraded("cuCtxPopCurrent");
}

static bool is_of(const struct gmod_context *c, CUcontext handle, bool dying_too)
{
	int state;

	if (!handle || atomic_load_explicit(&c->handle, memory_order_acquire) != handle)
		return false;
	state = atomic_load_explicit(&c->state, memory_order_acquire);
	return state == GMOD_CONTEXT_ALIVE || (dying_too && state == GMOD_CONTEXT_DYING);
}

static struct gmod_context *find(CUcontext handle, bool dying_too)
{
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++)
		if (is_of(&contexts[i], handle, dying_too))
			return &contexts[i];
	return NULL;
}

struct gmod_context *gmod_context_of(CUcontext handle)
{
	return find(handle, false);
}

struct gmod_context *gmod_context_departing(CUcontext handle)
{
	return find(handle, true);
}

static _Atomic(CUcontext) primaries[GMOD_PRIMARIES];

static bool is_primary(CUcontext handle)
{
	for (int i = 0; i < GMOD_PRIMARIES; i++)
		if (atomic_load_explicit(&primaries[i], memory_order_relaxed) == handle)
			return true;
	return false;
}

static CUresult ask_stream(CUstream stream, struct gmod_owner *owner)
{
	CUgreenCtx green = NULL;
	CUresult r = NEXT(cuStreamGetCtx_v2)(stream, &owner->context, &green);

	owner->green = green != NULL;
	return r;
}

/*
 * The per-thread stream answers also while blocking streams are captured, where the legacy one ends the capture. In a
 * green context there is no per-thread stream, and the legacy one disturbs nobody (measured on driver 580).
 */
static CUresult ask_owner(struct gmod_owner *owner)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	CUresult r = ask_stream(CU_STREAM_PER_THREAD, owner);

	if (r == CUDA_ERROR_INVALID_HANDLE)
		r = ask_stream(CU_STREAM_LEGACY, owner);
	gmod_relaxed_end(mode);
	return r;
}

static bool is_known(CUcontext handle)
{
	return gmod_context_departing(handle) || is_primary(handle);
}

struct gmod_owner gmod_current_owner(void)
{
	struct gmod_owner owner = {0};

	if (NEXT(cuCtxGetCurrent)(&owner.context) != CUDA_SUCCESS || !owner.context ||
	    is_known(owner.context))
		return owner;
	if (HAVE(cuStreamGetCtx_v2) && ask_owner(&owner) != CUDA_SUCCESS) {
		gmod_degraded("cuStreamGetCtx");
		owner.context = NULL;
	}
	return owner;
}

bool gmod_context_is_whole(CUcontext handle)
{
	struct gmod_owner owner;

	if (is_known(handle))
		return true;
	owner = gmod_current_owner();
	return owner.context == handle && !owner.green;
}

struct gmod_context *gmod_context_owner(void)
{
	return gmod_context_of(gmod_current_owner().context);
}

static bool native_only(void)
{
	return gmod_options()->backend == GMOD_OPTION_BACKEND_NATIVE;
}

/* It may be gone, though it is still current: that is no fault. */
static bool did(CUresult r, const char *entry_point)
{
	if (r != CUDA_SUCCESS && !gmod_context_is_gone(r))
		gmod_degraded(entry_point);
	return r == CUDA_SUCCESS;
}

/* false: the context is gone, whose device is still told. */
static bool make_stream(struct gmod_context *c)
{
	CUresult r = NEXT(cuStreamCreateWithPriority)(&c->stream, CU_STREAM_NON_BLOCKING, 0);

	if (!did(r, "cuStreamCreateWithPriority"))
		c->stream = NULL;
	return !gmod_context_is_gone(r);
}

/* false: it is gone. A primary one would come to life again with that entry. */
static bool set_up(struct gmod_context *c)
{
	CUstreamCaptureMode mode;
	bool ok;

	if (!did(NEXT(cuCtxGetDevice)(&c->device), "cuCtxGetDevice"))
		return false;
	c->stream = NULL;
	if (native_only())
		return true;
	mode = gmod_relaxed_begin();
	ok = make_stream(c);
	gmod_relaxed_end(mode);
	return ok;
}

/* A free entry that nobody is stuck in, taken by moving its state. Who comes in from now on sees that it is no context.
 */
static struct gmod_context *make(CUcontext handle)
{
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct gmod_context *c = &contexts[i];
		int expected = GMOD_CONTEXT_NONE;

		if (atomic_load_explicit(&c->users, memory_order_seq_cst) ||
		    !atomic_compare_exchange_strong_explicit(&c->state, &expected, GMOD_CONTEXT_MAKING,
							     memory_order_seq_cst, memory_order_relaxed))
			continue;
		if (!set_up(c)) {
			atomic_store_explicit(&c->state, GMOD_CONTEXT_NONE, memory_order_release);
			return NULL;
		}
		atomic_store_explicit(&c->handle, handle, memory_order_relaxed);
		/* release: the entry is complete for whoever sees it ALIVE */
		atomic_store_explicit(&c->state, GMOD_CONTEXT_ALIVE, memory_order_release);
		return c;
	}
	return NULL;
}

/*
 * One thread makes entries at a time. The others wait for it, but not for ever: its driver calls are short, and a
 * buffer that stays native is better than a program that hangs.
 */
static bool begin_making(atomic_flag *making)
{
	for (unsigned i = 0; i < 100000; i++) {
		if (!atomic_flag_test_and_set_explicit(making, memory_order_acquire))
			return true;
		sched_yield();
	}
	return false;
}

/* The entry of a context that is current, made if need be. */
static struct gmod_context *entry_here(CUcontext handle)
{
	static atomic_flag making = ATOMIC_FLAG_INIT;
	struct gmod_context *c = NULL;
	struct gmod_cancel cancel;

	/* One that is being released may yet stay: it must not get a second entry. Meanwhile buffers are native. */
	if (gmod_context_departing(handle))
		return gmod_context_of(handle);
	cancel = gmod_cancel_begin();
	if (begin_making(&making)) {
		c = gmod_context_departing(handle) ? gmod_context_of(handle) : make(handle);
		atomic_flag_clear_explicit(&making, memory_order_release);
	}
	gmod_cancel_end(cancel);
	return c;
}

struct gmod_context *gmod_context_current(void)
{
	struct gmod_owner owner = gmod_current_owner();

	if (!owner.context || owner.green)
		return NULL;
	gmod_context_met(owner.context);
	return entry_here(owner.context);
}

struct gmod_context *gmod_context_made(CUcontext handle)
{
	struct gmod_context *c = gmod_context_of(handle);
	CUcontext popped;

	if (c || !handle || gmod_context_departing(handle) || NEXT(cuCtxPushCurrent_v2)(handle) != CUDA_SUCCESS)
		return c;
	c = entry_here(handle);
	if (NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
		gmod_degraded("cuCtxPopCurrent");
	return c;
}

static _Atomic unsigned retained[GMOD_PRIMARIES]; /* retains seen and not yet released */

static bool has_primary(int device)
{
	return device >= 0 && device < GMOD_PRIMARIES;
}

void gmod_context_is_primary(int device, CUcontext handle)
{
	if (has_primary(device))
		atomic_store_explicit(&primaries[device], handle, memory_order_relaxed);
}

void gmod_context_retained(int device)
{
	if (has_primary(device))
		atomic_fetch_add_explicit(&retained[device], 1, memory_order_relaxed);
}

bool gmod_context_last_release(int device)
{
	unsigned count;

	if (!has_primary(device))
		return true;
	count = atomic_load_explicit(&retained[device], memory_order_relaxed);
	while (count && !atomic_compare_exchange_weak_explicit(&retained[device], &count, count - 1,
							       memory_order_relaxed, memory_order_relaxed))
		;
	return count <= 1;
}

bool gmod_context_is_retained(int device)
{
	return has_primary(device) && atomic_load_explicit(&retained[device], memory_order_relaxed);
}

CUcontext gmod_context_primary(int device)
{
	return has_primary(device) ? atomic_load_explicit(&primaries[device], memory_order_relaxed) : NULL;
}

static pthread_mutex_t turns[GMOD_PRIMARIES] = {[0 ... GMOD_PRIMARIES - 1] = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

bool gmod_context_turn_begin(int device)
{
	uint64_t deadline = GMOD_SECONDS(5);

	while (has_primary(device)) {
		if (pthread_mutex_trylock(&turns[device]) == 0)
			return true;
		if (!gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10))
			break;
	}
	return false;
}

void gmod_context_turn_end(int device, bool taken)
{
	if (taken)
		pthread_mutex_unlock(&turns[device]);
}

bool gmod_context_use_begin(struct gmod_context *c)
{
	/* seq_cst: ordered before the look at the state; see context.h */
	atomic_fetch_add_explicit(&c->users, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&c->state, memory_order_seq_cst) == GMOD_CONTEXT_ALIVE)
		return true;
	gmod_context_use_end(c);
	return false;
}

void gmod_context_use_end(struct gmod_context *c)
{
	/* release: the calls of ours are done before somebody destroys the context or takes the entry */
	atomic_fetch_sub_explicit(&c->users, 1, memory_order_release);
}

bool gmod_context_is_alive(const struct gmod_context *c)
{
	return atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_ALIVE;
}

static void say_stuck(void)
{
	static atomic_bool said;

	if (gmod_degraded_first(&said))
		gmod_log_note(0, "a context is destroyed while a driver call of GMOD's in it has not returned for 5 s");
}

/*
 * How many departures are under way, in the lower half of their word, or SETTLING; and in the upper half how often they
 * have been settled, so that one that begins is told from the word when the entry it has looked at is another context's
 * meanwhile.
 */
#define UNDER_WAY UINT64_C(0xffffffff)
#define SETTLING UNDER_WAY
#define SETTLED (UNDER_WAY + 1)

static enum gmod_dying begin_departure(struct gmod_context *c, CUcontext handle)
{
	uint64_t deadline = GMOD_SECONDS(5);

	/* First: what another departure has taken may stay out because of this one. */
	gmod_index_depart(c);
	for (;;) {
		/* acquire: what has been settled is seen */
		uint64_t others = atomic_load_explicit(&c->departures, memory_order_acquire);

		if ((others & UNDER_WAY) == SETTLING) {
			if (gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10))
				continue;
			gmod_index_departed(c);
			return GMOD_DYING_OVERDUE;
		}
		if (!is_of(c, handle, true)) {
			gmod_index_departed(c);
			return GMOD_DYING_ANOTHERS;
		}
		if (atomic_compare_exchange_weak_explicit(&c->departures, &others, others + 1, memory_order_acquire,
							  memory_order_relaxed))
			return GMOD_DYING;
	}
}

static void wait_for_users(const struct gmod_context *c)
{
	uint64_t deadline = GMOD_SECONDS(5), yielding = GMOD_MILLISECONDS(1);

	while (atomic_load_explicit(&c->users, memory_order_seq_cst)) {
		if (yielding) {
			uint64_t began = gmod_monotonic_ns();

			sched_yield();
			gmod_waited(&yielding, began, 0);
		} else if (!gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10)) {
			say_stuck();
			return;
		}
	}
}

enum gmod_dying gmod_context_dying(struct gmod_context *c, CUcontext handle)
{
	enum gmod_dying begun = begin_departure(c, handle);

	if (begun == GMOD_DYING) {
		atomic_store_explicit(&c->state, GMOD_CONTEXT_DYING, memory_order_seq_cst);
		wait_for_users(c);
	}
	return begun;
}

static bool is_last(uint64_t departures)
{
	return (departures & UNDER_WAY) == 1;
}

enum gmod_departed gmod_context_departed(struct gmod_context *c, bool ended)
{
	uint64_t under_way = atomic_load_explicit(&c->departures, memory_order_relaxed);

	if (ended)
		atomic_store_explicit(&c->ended, true, memory_order_relaxed);
	/* acquire and release: the last one sees what the others have taken, and whether one has ended the context */
	while (!atomic_compare_exchange_weak_explicit(&c->departures, &under_way,
						      is_last(under_way) ? under_way | SETTLING : under_way - 1,
						      memory_order_acq_rel, memory_order_relaxed))
		;
	if (!is_last(under_way)) {
		gmod_index_departed(c);
		return GMOD_DEPARTED_FIRST;
	}
	return atomic_load_explicit(&c->ended, memory_order_relaxed) ? GMOD_DEPARTED_ENDED : GMOD_DEPARTED_KEPT;
}

static void settled(struct gmod_context *c, enum gmod_context_state state)
{
	uint64_t times = atomic_load_explicit(&c->departures, memory_order_relaxed) & ~UNDER_WAY;

	atomic_store_explicit(&c->ended, false, memory_order_relaxed);
	/* Before the state: who finds a buffer RELEASING and then its context alive, looks once more because of it. */
	gmod_index_departed(c);
	atomic_store_explicit(&c->state, state, memory_order_release);
	atomic_store_explicit(&c->departures, times + SETTLED, memory_order_release);
}

void gmod_context_alive_again(struct gmod_context *c)
{
	settled(c, GMOD_CONTEXT_ALIVE);
}

/* The stream went with the context. */
void gmod_context_gone(struct gmod_context *c)
{
	gmod_units_context_gone(c);
	gmod_heap_gone(c);
	atomic_store_explicit(&c->handle, NULL, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->ends, 1, memory_order_release);
	settled(c, GMOD_CONTEXT_NONE);
}
