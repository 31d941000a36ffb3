/* The context that is current, as a number, and streams in it, for what launches and waits prove. */
#ifndef GMOD_LIB_CONTEXT_CURRENT_H
#define GMOD_LIB_CONTEXT_CURRENT_H

#include "lib/base/phase.h"
#include "lib/context/context.h"
#include "monitor/launches/proof.h"

/* As the driver says; 0 without one. It has been met then. */
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

static inline bool gmod_is_default_stream(CUstream stream)
{
	return gmod_handle(stream) <= (uint64_t)GMOD_KEY_PER_THREAD;
}

/*
 * The key of a stream for what waits prove. A default stream's context is always asked for: one that GMOD had not met
 * would pass for the only one, and a wait there for a wait for kernels that still run.
 */
static inline uint64_t gmod_waited_stream(CUstream stream, enum gmod_flavour flavour)
{
	uint64_t context = gmod_is_default_stream(stream) ? gmod_ask_current_context() : 0;

	return gmod_stream_key(gmod_handle(stream), flavour, context);
}

/* A stream as an entry point was given it. */
struct gmod_order {
	CUstream stream; /* never NULL */
	uint64_t key;
};

static inline CUstream gmod_explicit(CUstream handle, enum gmod_flavour flavour)
{
	return handle ? handle : flavour == GMOD_LEGACY ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD;
}

static inline struct gmod_order gmod_order_of(CUstream handle, enum gmod_flavour flavour)
{
	return (struct gmod_order){gmod_explicit(handle, flavour), gmod_waited_stream(handle, flavour)};
}

/* A stream may be of another context, and of another device, than the current one. NULL: the driver does not say. */
static inline CUcontext gmod_stream_owner(CUstream stream)
{
	CUcontext owner = NULL;
	CUresult r =
	    gmod_is_default_stream(stream) ? NEXT(cuCtxGetCurrent)(&owner) : NEXT(cuStreamGetCtx)(stream, &owner);

	return r == CUDA_SUCCESS ? owner : NULL;
}

/* It joins the legacy stream, or is that. One of which the driver does not say is taken for such. Not of one that
 * captures: the question ends its capture, in any mode (measured). */
static inline bool gmod_stream_is_blocking(CUstream stream)
{
	unsigned flags = CU_STREAM_DEFAULT;

	return NEXT(cuStreamGetFlags)(stream, &flags) != CUDA_SUCCESS || !(flags & CU_STREAM_NON_BLOCKING);
}

#endif
