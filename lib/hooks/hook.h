/*
 * What hook bodies share. A hook looks like this:
 *
 *     prepare            only if gmod_on()
 *     NEXT(entry)(...)   the program's own call, under its own capture mode, with its own errors
 *     gmod_done(...)     note what happened; a sticky error starts the post-mortem
 *
 * No lock is held across NEXT(), but the turn for a device's primary context (lib/context/context.h), which has a
 * bound.
 */
#ifndef GMOD_LIB_HOOK_H
#define GMOD_LIB_HOOK_H

#include "lib/context/context.h"
#include "lib/driver/driver.h"
#include "lib/driver/errors.h"
#include "lib/base/phase.h"
#include "monitor/launches/launch.h"
#include "monitor/watch/postmortem.h"
#include "monitor/launches/proof.h"

/* What a call comes back with that is refused, natively and here: it reaches past the end of a buffer, or misses it. */
#define GMOD_REFUSED CUDA_ERROR_INVALID_VALUE

/* Every hook's epilogue. */
static inline CUresult gmod_done(CUresult result, const char *entry_point)
{
	if (__builtin_expect(result != CUDA_SUCCESS, 0) && gmod_is_sticky(result))
		gmod_post_mortem(result, entry_point);
	return result;
}

/* The program did something that may have changed memory, or may have waited for something that did. */
static inline void gmod_active(void)
{
	struct gmod_thread *t = gmod_on() ? gmod_thread_self() : NULL;

	if (t)
		gmod_note_activity(t);
}

static inline uint64_t gmod_handle(const void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

/* The current context's handle as a number, as the driver says; 0 without one. It has been met then. */
static inline uint64_t gmod_ask_current_context(void)
{
	CUcontext c = NULL;

	if (NEXT(cuCtxGetCurrent)(&c) != CUDA_SUCCESS)
		return 0;
	gmod_context_met(c);
	return gmod_handle(c);
}

/*
 * The same for a launch. The driver is asked where more than one has been met (lib/context/context.h), or none yet, and
 * 0 is what it says without one. Otherwise it is the only one that there is, also for a thread without any, where a
 * call that needs one fails and its context is of no account.
 */
static inline uint64_t gmod_current_context(void)
{
	uint64_t only = atomic_load_explicit(&gmod_hot.context, memory_order_relaxed);

	return __builtin_expect(only > GMOD_SEVERAL, 1) ? only : gmod_ask_current_context();
}

/*
 * The key of a stream for what waits prove. A default stream's context is always asked for: one that GMOD had not met
 * would pass for the only one, and a wait there for a wait for kernels that still run.
 */
static inline uint64_t gmod_waited_stream(CUstream stream, enum gmod_flavour flavour)
{
	bool is_default = gmod_handle(stream) <= (uint64_t)GMOD_KEY_PER_THREAD;

	return gmod_stream_key(gmod_handle(stream), flavour, is_default ? gmod_ask_current_context() : 0);
}

#endif
