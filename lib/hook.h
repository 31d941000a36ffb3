/*
 * What hook bodies share. A hook looks like this:
 *
 *     prepare            only if gmod_on()
 *     NEXT(entry)(...)   the program's own call, under its own capture mode, with its own errors
 *     gmod_done(...)     note what happened; a sticky error starts the post-mortem
 *
 * No lock is held across NEXT().
 */
#ifndef GMOD_LIB_HOOK_H
#define GMOD_LIB_HOOK_H

#include "lib/driver.h"
#include "lib/process.h"
#include "monitor/activity.h"
#include "monitor/postmortem.h"
#include "monitor/proof.h"

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

/*
 * The current context's handle as a number. The driver is asked where more than one has been met (lib/context.h), or
 * none yet, and 0 is what it says without one. Otherwise it is the only one that there is, also for a thread without
 * any, where a call that needs one fails and its context is of no account.
 */
static inline uint64_t gmod_current_context(void)
{
	uint64_t only = atomic_load_explicit(&gmod_hot.context, memory_order_relaxed);
	CUcontext c = NULL;

	if (__builtin_expect(only > GMOD_SEVERAL, 1))
		return only;
	return NEXT(cuCtxGetCurrent)(&c) == CUDA_SUCCESS ? gmod_handle(c) : 0;
}

#endif
