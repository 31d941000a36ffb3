/*
 * What hook bodies share. A hook is a short body an entry point:
 *
 *     begin              prepare, if there is anything to; only if gmod_on(). It may refuse the call
 *     NEXT(entry)(...)   the program's own call, under its own capture mode, with its own errors
 *     end                note what happened; last gmod_done(), where a sticky error starts the post-mortem
 *
 * What a family does is in its begin and end. Where several entry points have one type, a function of the family's is
 * all of it, and takes the real one, NEXT(entry), as an argument. How they differ otherwise is an argument too: which
 * default stream they mean, or whether they are asynchronous.
 *
 * No lock is held across NEXT(), but the turn for a device's primary context (lib/context/primary.h), which has a
 * bound.
 */
#ifndef GMOD_LIB_HOOKS_HOOK_H
#define GMOD_LIB_HOOKS_HOOK_H

#include <string.h>

#include "lib/driver/driver.h"
#include "lib/driver/errors.h"
#include "lib/base/phase.h"
#include "lib/buffers/ordered.h"
#include "lib/context/capture.h"
#include "lib/context/current.h"
#include "lib/context/teardown.h"
#include "monitor/launches/launch.h"

/* What a call comes back with that is refused, natively and here: it reaches past the end of a buffer, or misses it. */
#define GMOD_REFUSED CUDA_ERROR_INVALID_VALUE

/* Every hook's epilogue. */
static inline CUresult gmod_done(CUresult result, const char *entry_point)
{
	if (__builtin_expect(result != CUDA_SUCCESS, 0) && gmod_is_sticky(result))
		gmod_context_failed(result, entry_point);
	return result;
}

/*
 * Work that is no launch, and may hold its stream up for as long as it likes: the device is not at rest meanwhile. The
 * stream is as an entry point was given it; those of per-thread default streams are named so. The activity comes last:
 * who sees it sees the hold.
 */
static inline void gmod_holds(CUresult r, CUstream stream, const char *entry_point)
{
	enum gmod_flavour flavour = strstr(entry_point, "_ptsz") ? GMOD_PER_THREAD : GMOD_LEGACY;
	struct gmod_thread *t = gmod_on() ? gmod_thread_self() : NULL;
	uint64_t context;

	if (!t)
		return;
	if (r == CUDA_SUCCESS && !gmod_is_captured(stream, flavour)) {
		context = gmod_current_context();
		gmod_note_last_launch(t, context, gmod_stream_key(gmod_handle(stream), flavour, context), gmod_ticks());
	}
	gmod_note_activity(t);
}

#endif
