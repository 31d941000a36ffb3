#include "lib/context.h"

#include <sched.h>
#include <string.h>

#include "device/heaps.h"
#include "device/units.h"
#include "lib/hold.h"
#include "lib/log.h"
#include "lib/mapped.h"
#include "lib/patience.h"
#include "lib/small.h"
#include "lib/start.h"
#include "monitor/index.h"

static struct gmod_context contexts[GMOD_CONTEXTS];

struct gmod_context *gmod_context_at(unsigned i)
{
	return i < GMOD_CONTEXTS ? &contexts[i] : NULL;
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

bool gmod_context_visit(const struct gmod_context *c)
{
	if (gmod_context_is_current(c))
		return false;
	if (NEXT(cuCtxPushCurrent_v2)(atomic_load_explicit(&c->handle, memory_order_relaxed)) == CUDA_SUCCESS)
		return true;
	gmod_degraded("cuCtxPushCurrent");
	return false;
}

void gmod_context_left(bool visited)
{
	CUcontext popped;

	if (visited && NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
		gmod_degraded("cuCtxPopCurrent");
}

struct gmod_context *gmod_context_of(CUcontext handle)
{
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++)
		if (handle && atomic_load_explicit(&contexts[i].handle, memory_order_acquire) == handle &&
		    atomic_load_explicit(&contexts[i].state, memory_order_acquire) == GMOD_CONTEXT_ALIVE)
			return &contexts[i];
	return NULL;
}

static bool native_only(void)
{
	return gmod_options()->backend == GMOD_OPTION_BACKEND_NATIVE;
}

static bool device_allows_unified(int device)
{
	int value = 0;

	if (!native_only() &&
	    NEXT(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device) == CUDA_SUCCESS)
		return value != 0;
	return false;
}

static void say_declined(int device)
{
	static atomic_bool said;

	if (!native_only() && gmod_first_time(&said))
		gmod_log_note(0,
			      "device %d cannot share managed memory with the CPU (concurrentManagedAccess is 0): "
			      "its buffers are not guarded",
			      device);
}

static const char *backend_of(const struct gmod_context *c)
{
	if (!c->unified)
		return "native, device buffers are not guarded";
	return c->mapped ? "unified, large buffers mapped" : "unified, all buffers managed";
}

/* A device has as many contexts as the program likes. */
static void say_backend(const struct gmod_context *c)
{
	static _Atomic uint64_t said; /* a bit for each device */
	uint64_t bit = UINT64_C(1) << (c->device & 63);

	if (!(atomic_fetch_or_explicit(&said, bit, memory_order_relaxed) & bit))
		gmod_log_note(2, "device %d: backend %s", c->device, backend_of(c));
}

static void set_up(struct gmod_context *c)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();

	c->device = 0;
	if (NEXT(cuCtxGetDevice)(&c->device) != CUDA_SUCCESS)
		gmod_degraded("cuCtxGetDevice");
	c->unified = device_allows_unified(c->device);
	c->stream = NULL;
	c->gathered = NULL;
	c->staging = NULL;
	c->staging_is_ours = false;
	c->overdue = false;
	if (c->unified && NEXT(cuStreamCreateWithPriority)(&c->stream, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS) {
		c->stream = NULL;
		gmod_degraded("cuStreamCreateWithPriority");
	}
	c->mapped = gmod_options()->mapped && c->unified && c->stream && gmod_mapped_is_possible(c->device);
	c->small_mapped_max = c->mapped ? gmod_small_max() : 0;
	gmod_relaxed_end(mode);
	if (!c->unified)
		say_declined(c->device);
	say_backend(c);
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
		set_up(c);
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

static bool is_dying(CUcontext handle)
{
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++)
		if (atomic_load_explicit(&contexts[i].handle, memory_order_acquire) == handle &&
		    atomic_load_explicit(&contexts[i].state, memory_order_acquire) == GMOD_CONTEXT_DYING)
			return true;
	return false;
}

struct gmod_context *gmod_context_current(void)
{
	static atomic_flag making = ATOMIC_FLAG_INIT;
	CUcontext handle = NULL;
	struct gmod_context *c;
	struct gmod_cancel cancel;

	if (NEXT(cuCtxGetCurrent)(&handle) != CUDA_SUCCESS || !handle)
		return NULL;
	gmod_context_met(handle);
	c = gmod_context_of(handle);
	/* One that is being released may yet stay: it must not get a second entry. Meanwhile buffers are native. */
	if (c || is_dying(handle))
		return c;
	cancel = gmod_hold_cancel();
	if (begin_making(&making)) {
		c = gmod_context_of(handle);
		if (!c && !is_dying(handle))
			c = make(handle);
		atomic_flag_clear_explicit(&making, memory_order_release);
	}
	gmod_let_cancel(cancel);
	return c;
}

struct gmod_context *gmod_context_made(CUcontext handle)
{
	struct gmod_context *c = gmod_context_of(handle);
	CUcontext popped;

	if (c || !handle || NEXT(cuCtxPushCurrent_v2)(handle) != CUDA_SUCCESS)
		return c;
	c = gmod_context_current();
	if (NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
		gmod_degraded("cuCtxPopCurrent");
	return c;
}

enum { PRIMARIES = 64 };
static _Atomic(CUcontext) primaries[PRIMARIES];
static _Atomic unsigned retained[PRIMARIES]; /* retains seen and not yet released */

void gmod_context_is_primary(int device, CUcontext handle)
{
	if (device < 0 || device >= PRIMARIES)
		return;
	atomic_store_explicit(&primaries[device], handle, memory_order_relaxed);
	atomic_fetch_add_explicit(&retained[device], 1, memory_order_relaxed);
}

bool gmod_context_last_release(int device)
{
	unsigned count;

	if (device < 0 || device >= PRIMARIES)
		return true;
	count = atomic_load_explicit(&retained[device], memory_order_relaxed);
	while (count && !atomic_compare_exchange_weak_explicit(&retained[device], &count, count - 1,
							       memory_order_relaxed, memory_order_relaxed))
		;
	return count <= 1;
}

bool gmod_context_is_orphan(const struct gmod_context *c)
{
	CUcontext handle = gmod_context_is_alive(c) ? atomic_load_explicit(&c->handle, memory_order_relaxed) : NULL;

	return handle && handle == gmod_context_primary(c->device) &&
	       !atomic_load_explicit(&retained[c->device], memory_order_relaxed);
}

CUcontext gmod_context_primary(int device)
{
	if (device < 0 || device >= PRIMARIES)
		return NULL;
	return atomic_load_explicit(&primaries[device], memory_order_relaxed);
}

bool gmod_context_enter(struct gmod_context *c)
{
	/* seq_cst: ordered before the look at the state; see context.h */
	atomic_fetch_add_explicit(&c->users, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&c->state, memory_order_seq_cst) == GMOD_CONTEXT_ALIVE)
		return true;
	gmod_context_leave(c);
	return false;
}

void gmod_context_leave(struct gmod_context *c)
{
	/* release: the calls of ours are done before somebody destroys the context or takes the entry */
	atomic_fetch_sub_explicit(&c->users, 1, memory_order_release);
}

bool gmod_context_is_alive(const struct gmod_context *c)
{
	return atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_ALIVE;
}

bool gmod_context_is_dying(const struct gmod_context *c)
{
	return atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_DYING;
}

static void say_stuck(void)
{
	static atomic_bool said;

	if (gmod_degraded_first(&said))
		gmod_log_note(0, "a context is destroyed while a driver call of GMOD's in it has not returned for 5 s");
}

enum { SETTLING = -1 };

static bool begin_departure(struct gmod_context *c)
{
	uint64_t patience = GMOD_SECONDS(5);
	int others = atomic_load_explicit(&c->departures, memory_order_relaxed);

	/* First: what another departure has taken may stay out because of this one. */
	gmod_index_depart();
	for (;;) {
		if (others == SETTLING) {
			if (!gmod_nap(&patience, GMOD_MILLISECONDS(1) / 10)) {
				gmod_index_departed();
				return false;
			}
			others = atomic_load_explicit(&c->departures, memory_order_relaxed);
		} else if (atomic_compare_exchange_weak_explicit(&c->departures, &others, others + 1,
								 memory_order_acquire, memory_order_relaxed)) {
			/* acquire: what has been settled is seen */
			return true;
		}
	}
}

static void wait_for_users(const struct gmod_context *c)
{
	uint64_t patience = GMOD_SECONDS(5);

	for (int i = 0; atomic_load_explicit(&c->users, memory_order_seq_cst); i++) {
		if (i < 1000) {
			sched_yield();
		} else if (!gmod_nap(&patience, GMOD_MILLISECONDS(1) / 10)) {
			say_stuck();
			return;
		}
	}
}

bool gmod_context_dying(struct gmod_context *c)
{
	if (!begin_departure(c))
		return false;
	atomic_store_explicit(&c->state, GMOD_CONTEXT_DYING, memory_order_seq_cst);
	wait_for_users(c);
	return true;
}

enum gmod_departed gmod_context_departed(struct gmod_context *c, bool ended)
{
	int under_way = atomic_load_explicit(&c->departures, memory_order_relaxed);

	if (ended)
		atomic_store_explicit(&c->ended, true, memory_order_relaxed);
	/* acquire and release: the last one sees what the others have taken, and whether one has ended the context */
	while (!atomic_compare_exchange_weak_explicit(&c->departures, &under_way,
						      under_way == 1 ? SETTLING : under_way - 1, memory_order_acq_rel,
						      memory_order_relaxed))
		;
	if (under_way > 1) {
		gmod_index_departed();
		return GMOD_DEPARTED_FIRST;
	}
	return atomic_load_explicit(&c->ended, memory_order_relaxed) ? GMOD_DEPARTED_ENDED : GMOD_DEPARTED_KEPT;
}

static void settled(struct gmod_context *c, enum gmod_context_state state)
{
	atomic_store_explicit(&c->ended, false, memory_order_relaxed);
	/* Before the state: who finds a buffer RELEASING and then its context alive, looks once more because of it. */
	gmod_index_departed();
	atomic_store_explicit(&c->state, state, memory_order_release);
	atomic_store_explicit(&c->departures, 0, memory_order_release);
}

void gmod_context_drop_stream(struct gmod_context *c)
{
	CUcontext handle = atomic_load_explicit(&c->handle, memory_order_relaxed), popped;

	if (!c->stream || NEXT(cuCtxPushCurrent_v2)(handle) != CUDA_SUCCESS)
		return;
	if (NEXT(cuStreamDestroy_v2)(c->stream) != CUDA_SUCCESS)
		gmod_degraded("cuStreamDestroy");
	if (c->gathered && NEXT(cuEventDestroy_v2)(c->gathered) != CUDA_SUCCESS)
		gmod_degraded("cuEventDestroy");
	if (c->staging && (c->staging_is_ours ? NEXT(cuMemHostUnregister)(c->staging)
					      : NEXT(cuMemFreeHost)(c->staging)) != CUDA_SUCCESS)
		gmod_degraded("staging memory of a context that goes");
	c->stream = NULL;
	c->gathered = NULL;
	c->staging = NULL;
	if (NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
		gmod_degraded("cuCtxPopCurrent");
}

void gmod_context_alive_again(struct gmod_context *c)
{
	settled(c, GMOD_CONTEXT_ALIVE);
}

/* Stream, event and the registration of the staging memory went with the context. */
void gmod_context_gone(struct gmod_context *c)
{
	gmod_units_context_gone(c);
	gmod_heap_gone(c);
	atomic_store_explicit(&c->handle, NULL, memory_order_relaxed);
	atomic_store_explicit(&c->in_flight, 0, memory_order_relaxed);
	atomic_store_explicit(&c->unplaced, 0, memory_order_relaxed);
	atomic_store_explicit(&c->overdraft, 0, memory_order_relaxed);
	atomic_store_explicit(&c->freed, 0, memory_order_relaxed);
	atomic_store_explicit(&c->holds_tiny, false, memory_order_relaxed);
	settled(c, GMOD_CONTEXT_NONE);
}
