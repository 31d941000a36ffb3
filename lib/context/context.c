#include "lib/context/context.h"

#include "lib/driver/errors.h"
#include "lib/base/lock.h"
#include "lib/base/scope.h"
#include "lib/base/origin.h"
#include "lib/context/primary.h"

struct gmod_context gmod_contexts[GMOD_CONTEXTS];

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

bool gmod_context_is_current(const struct gmod_context *c)
{
	CUcontext current = NULL;

	return NEXT(cuCtxGetCurrent)(&current) == CUDA_SUCCESS &&
	       current == atomic_load_explicit(&c->handle, memory_order_relaxed);
}

void gmod_context_visit_end(bool visited)
{
	CUcontext popped;

	if (visited && NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
		gmod_degraded("cuCtxPopCurrent");
}

bool gmod_context_visit_begin(const struct gmod_context *c)
{
	CUcontext handle = atomic_load_explicit(&c->handle, memory_order_relaxed);

	return !gmod_context_is_current(c) && gmod_succeeded(NEXT(cuCtxPushCurrent_v2)(handle), "cuCtxPushCurrent");
}

bool gmod_context_enter(struct gmod_context *c)
{
	CUcontext handle;

	if (!gmod_context_use_begin(c))
		return false;
	handle = atomic_load_explicit(&c->handle, memory_order_relaxed);
	if (NEXT(cuCtxPushCurrent_v2)(handle) == CUDA_SUCCESS)
		return true;
	gmod_degraded("cuCtxPushCurrent");
	gmod_context_use_end(c);
	return false;
}

void gmod_context_leave(struct gmod_context *c)
{
	gmod_context_visit_end(true);
	gmod_context_use_end(c);
}

struct gmod_context *gmod_context_known(CUcontext handle)
{
	for (unsigned i = 0; handle && i < GMOD_CONTEXTS; i++)
		if (atomic_load_explicit(&gmod_contexts[i].handle, memory_order_acquire) == handle &&
		    atomic_load_explicit(&gmod_contexts[i].state, memory_order_acquire) != GMOD_CONTEXT_NONE)
			return &gmod_contexts[i];
	return NULL;
}

struct gmod_context *gmod_context_of(CUcontext handle)
{
	struct gmod_context *c = gmod_context_known(handle);

	return c && atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_ALIVE ? c : NULL;
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

bool gmod_context_is_whole(CUcontext handle)
{
	return gmod_context_known(handle) || gmod_primary_is(handle);
}

struct gmod_owner gmod_current_owner(void)
{
	struct gmod_owner owner = {0};

	if (NEXT(cuCtxGetCurrent)(&owner.context) != CUDA_SUCCESS || !owner.context ||
	    gmod_context_is_whole(owner.context))
		return owner;
	if (HAVE(cuStreamGetCtx_v2) && !gmod_succeeded(ask_owner(&owner), "cuStreamGetCtx"))
		owner.context = NULL;
	return owner;
}

struct gmod_context *gmod_context_owner(void)
{
	return gmod_context_of(gmod_current_owner().context);
}

/* It may be gone, though it is still current: that is no fault. */
static bool did(CUresult r, const char *entry_point)
{
	return !gmod_context_is_gone(r) && gmod_succeeded(r, entry_point);
}

/* false: the context is gone, whose device is still told. */
static bool make_stream(struct gmod_context *c)
{
	CUstream stream = NULL;
	CUresult r = NEXT(cuStreamCreateWithPriority)(&stream, CU_STREAM_NON_BLOCKING, 0);

	if (did(r, "cuStreamCreateWithPriority"))
		__atomic_store_n(&c->stream, stream, __ATOMIC_RELAXED);
	return !gmod_context_is_gone(r);
}

/* Reports name the GPU, whatever ordinal it has in which process. */
static void meet_gpu(CUdevice device)
{
	uint64_t uuid[2];

	if (HAVE(cuDeviceGetUuid_v2) && did(NEXT(cuDeviceGetUuid_v2)((CUuuid *)uuid, device), "cuDeviceGetUuid"))
		gmod_gpu_met(device, uuid);
}

/* false: it is gone. A primary one would come to life again with that entry. */
static bool set_up(struct gmod_context *c)
{
	CUstreamCaptureMode mode;
	bool ok;

	if (!did(NEXT(cuCtxGetDevice)(&c->device), "cuCtxGetDevice"))
		return false;
	meet_gpu(c->device);
	__atomic_store_n(&c->stream, NULL, __ATOMIC_RELAXED);
	if (gmod_options()->backend == GMOD_OPTION_BACKEND_NATIVE)
		return true;
	mode = gmod_relaxed_begin();
	ok = make_stream(c);
	gmod_relaxed_end(mode);
	return ok;
}

/* One that nobody is stuck in. The state first: who comes in from then on sees that it is no context. */
static struct gmod_context *free_entry(void)
{
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++)
		if (atomic_load_explicit(&gmod_contexts[i].state, memory_order_acquire) == GMOD_CONTEXT_NONE &&
		    !atomic_load_explicit(&gmod_contexts[i].users, memory_order_seq_cst))
			return &gmod_contexts[i];
	return NULL;
}

static struct gmod_context *make(CUcontext handle)
{
	struct gmod_context *c = free_entry();

	if (!c || !set_up(c))
		return NULL;
	atomic_store_explicit(&c->handle, handle, memory_order_relaxed);
	/* release: the entry is complete for whoever sees it ALIVE */
	atomic_store_explicit(&c->state, GMOD_CONTEXT_ALIVE, memory_order_release);
	return c;
}

/* One thread makes entries at a time. Its driver calls are short, and who does not get its turn has a native buffer. */
static struct gmod_context *meet_current(void)
{
	static atomic_flag making = ATOMIC_FLAG_INIT;
	struct gmod_owner owner = gmod_current_owner();
	struct gmod_context *c = NULL;
	struct gmod_cancel cancel;

	if (!owner.context || owner.green)
		return NULL;
	gmod_context_met(owner.context);
	cancel = gmod_cancel_begin();
	if (gmod_lock(&making)) {
		c = gmod_context_known(owner.context) ? gmod_context_of(owner.context) : make(owner.context);
		gmod_unlock(&making);
	}
	gmod_cancel_end(cancel);
	return c;
}

struct gmod_context *gmod_context_current(void)
{
	CUcontext handle = NULL;
	struct gmod_context *c;

	if (NEXT(cuCtxGetCurrent)(&handle) != CUDA_SUCCESS)
		return NULL;
	c = gmod_context_known(handle);
	if (!c)
		return meet_current();
	/* One that is being released may yet stay: it must not get a second entry. Meanwhile buffers are native. */
	return atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_ALIVE ? c : NULL;
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

bool gmod_may_call(const struct gmod_context *c)
{
	return gmod_on() && atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_ALIVE;
}
