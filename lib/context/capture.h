/*
 * Captures. Work that goes into a graph runs later, if at all, and is no launch now; and what GMOD calls by itself must
 * disturb none.
 */
#ifndef GMOD_LIB_CONTEXT_CAPTURE_H
#define GMOD_LIB_CONTEXT_CAPTURE_H

#include "lib/base/facts.h"
#include "lib/base/phase.h"
#include "lib/driver/errors.h"
#include "monitor/launches/proof.h"

/* Slow path of gmod_is_captured(): asks the driver about this one stream. */
__attribute__((cold)) bool gmod_stream_captures(CUstream stream, enum gmod_flavour flavour);

static inline bool gmod_is_captured(CUstream stream, enum gmod_flavour flavour)
{
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed) == 0, 1))
		return false;
	return gmod_stream_captures(stream, flavour);
}

/* Has it nothing left to do? Of a stream that does not capture: of others the question would end that. */
bool gmod_stream_is_idle(CUstream stream);

/*
 * gmod_hot.captures counts those that are open, so that hooks need not ask the driver while there are none. One whose
 * stream or context the program destroys counts for ever: each launch asks then, and no buffer gets a fence.
 */
void gmod_capture_began(void);
void gmod_capture_ended(void);

/*
 * Calls of ours between begin and end disturb no stream capture, of this thread or another: they run in relaxed
 * capture mode (measured: an event query in the default mode kills a capture elsewhere).
 */
static inline CUstreamCaptureMode gmod_relaxed_begin(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	if (NEXT(cuThreadExchangeStreamCaptureMode)(&mode) != CUDA_SUCCESS)
		gmod_degraded("cuThreadExchangeStreamCaptureMode");
	return mode;
}

static inline void gmod_relaxed_end(CUstreamCaptureMode before)
{
	NEXT(cuThreadExchangeStreamCaptureMode)(&before);
}

#endif
