/* Questions about a context, its limits, its peers, and waiting for it. */
#include "sim.h"

/* The context that is asked about, NULL being the current one. */
static CUcontext asked(CUcontext ctx)
{
	return ctx ? ctx : context_current();
}

/* A primary one has a device also when it is gone and still current. */
static bool has_device(CUcontext ctx)
{
	return context_known(ctx) && (ctx->alive || ctx->primary);
}

/* These two work in a context with a sticky error. */
ENTRY(cuCtxGetDevice, NEEDS_INIT, TAKES(CUdevice *device),
      ANSWER_OF(has_device(context_current()), CUDA_ERROR_INVALID_CONTEXT, device, context_current()->device))

ENTRY(cuCtxGetApiVersion, NEEDS_INIT, TAKES(CUcontext ctx, unsigned int *version),
      ANSWER_OF(context_ok(asked(ctx)), CUDA_ERROR_INVALID_CONTEXT, version, asked(ctx)->api_version))

ENTRY(cuCtxGetLimit, NEEDS_CONTEXT, TAKES(size_t *pvalue, CUlimit limit),
      ANSWER_OF(limit == CU_LIMIT_MALLOC_HEAP_SIZE, CUDA_ERROR_UNSUPPORTED_LIMIT, pvalue, c.ctx->heap))

static CUresult set_limit(CUcontext ctx, CUlimit limit, size_t value)
{
	if (limit != CU_LIMIT_MALLOC_HEAP_SIZE)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	ctx->heap = value;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxSetLimit, NEEDS_CONTEXT, TAKES(CUlimit limit, size_t value), set_limit(c.ctx, limit, value))

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
	struct call c = ENTER(cuCtxGetStreamPriorityRange, NEEDS_CONTEXT);

	if (!c.refused && leastPriority)
		*leastPriority = 0;
	if (!c.refused && greatestPriority)
		*greatestPriority = -5;
	return sim_leave(&c, c.refused);
}

static CUresult enable_peer(CUcontext ctx, CUcontext peer, unsigned flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!peer || !context_ok(peer) || peer->device == ctx->device)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ctx->peers & 1u << peer->device)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	ctx->peers |= 1u << peer->device;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxEnablePeerAccess, NEEDS_CONTEXT, TAKES(CUcontext peerContext, unsigned int Flags),
      enable_peer(c.ctx, peerContext, Flags))

/* Kills a capture in the context, whatever its mode and the thread's. */
static CUresult synchronize(CUcontext ctx)
{
	if (!ctx || !context_ok(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (capture_in_context(ctx)) {
		capture_invalidate_context(ctx);
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return pools_trim_after(queue_wait_context(ctx));
}

ENTRY(cuCtxSynchronize, NEEDS_CONTEXT, TAKES(void), synchronize(c.ctx))
ENTRY(cuCtxSynchronize_v2, NEEDS_INIT, TAKES(CUcontext ctx), synchronize(asked(ctx)))
