/*
 * What hook bodies share. A hook is a short body an entry point:
 *
 *     begin              prepare, if there is anything to; only if gmod_on(). It may refuse the call
 *     NEXT(entry)(...)   the program's own call, under its own capture mode, with its own errors
 *     end                note what happened; last gmod_done(), where a sticky error starts the post-mortem
 *
 * What most do is told by a role (lib/hooks/call.h), and their bodies are written by scripts/hooks. The others are
 * here, in families: what a family does is in its begin and end. Where several entry points are one function of the
 * family's, their rows say so (lib/hooks/family.h).
 *
 * No lock is held across NEXT(), but the turn for a device's primary context (lib/context/primary.h), which has a
 * bound.
 */
#ifndef GMOD_LIB_HOOKS_HOOK_H
#define GMOD_LIB_HOOKS_HOOK_H

#include "lib/driver/driver.h"
#include "lib/driver/errors.h"
#include "lib/base/phase.h"
#include "lib/buffers/ordered.h"
#include "lib/context/capture.h"
#include "lib/context/current.h"
#include "lib/context/fault.h"
#include "lib/context/teardown.h"
#include "monitor/launches/launch.h"

/* What a call comes back with that is refused, natively and here: it reaches past the end of a buffer, or misses it. */
#define GMOD_REFUSED CUDA_ERROR_INVALID_VALUE

/*
 * A program may launch some hundred thousand times a second, and each time finds the caches full of its own: what a
 * hook runs through is in one piece, without calls, and what is rare is elsewhere.
 */
#define STRAIGHT static inline __attribute__((always_inline))

/* Every hook's epilogue. */
static inline CUresult gmod_done(CUresult result, const char *entry_point)
{
	if (__builtin_expect(result != CUDA_SUCCESS, 0) && gmod_is_sticky(result))
		gmod_context_failed(result, entry_point);
	return result;
}

#endif
