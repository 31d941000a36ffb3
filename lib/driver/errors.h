/* Which of the driver's errors mean what. */
#ifndef GMOD_LIB_DRIVER_ERRORS_H
#define GMOD_LIB_DRIVER_ERRORS_H

#include "lib/driver/driver.h"

/*
 * The name of an error after which a context cannot be used, illegal address and its kin (cuda.h: "leaves the process
 * in an inconsistent state"); NULL for all others. The driver is not asked for names any more then.
 */
__attribute__((cold)) const char *gmod_sticky_name(CUresult r);

static inline bool gmod_is_sticky(CUresult r)
{
	return __builtin_expect(r != CUDA_SUCCESS, 0) && gmod_sticky_name(r);
}

/* What calls in a context that has ended, or without one, come back with. */
static inline bool gmod_context_is_gone(CUresult r)
{
	return r == CUDA_ERROR_CONTEXT_IS_DESTROYED || r == CUDA_ERROR_INVALID_CONTEXT;
}

/* A capture forbids the call, or has been lost. */
static inline bool gmod_is_capture_error(CUresult r)
{
	return r >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && r <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* What a native free answers too: the context is broken or gone, the driver has shut down, a capture is under way. */
static inline bool gmod_is_answer_of_free(CUresult r)
{
	return gmod_is_sticky(r) || r == CUDA_ERROR_NOT_INITIALIZED || r == CUDA_ERROR_DEINITIALIZED ||
	       gmod_context_is_gone(r) || gmod_is_capture_error(r);
}

#endif
