/*
 * Green contexts, as far as a context and its memory go: no multiprocessors are set apart for them.
 */
#include "sim.h"

#include <stdlib.h>

struct CUgreenCtx_st {
	CUcontext ctx;
};

static CUresult get_resource(CUdevice device, CUdevResource *out, CUdevResourceType type)
{
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!out || type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUdevResource){.type = type, .sm = {.smCount = 8, .minSmPartitionSize = 8}};
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetDevResource, NEEDS_INIT, TAKES(CUdevice device, CUdevResource *resource, CUdevResourceType type),
      get_resource(device, resource, type))

static CUresult describe(CUdevResourceDesc *out, const CUdevResource *resources, unsigned count)
{
	static int all;

	if (!out || !resources || !count || resources[0].type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUdevResourceDesc)(void *)&all;
	return CUDA_SUCCESS;
}

ENTRY(cuDevResourceGenerateDesc, NEEDS_INIT,
      TAKES(CUdevResourceDesc *phDesc, CUdevResource *resources, unsigned int nbResources),
      describe(phDesc, resources, nbResources))

static CUresult create(CUgreenCtx *out, CUdevResourceDesc what, CUdevice device, unsigned flags)
{
	CUcontext ctx;
	CUresult r;

	if (!out || !what || flags != CU_GREEN_CTX_DEFAULT_STREAM)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	r = context_of_green(device, &ctx);
	if (r)
		return r;
	*out = calloc(1, sizeof(**out));
	(*out)->ctx = ctx;
	ctx->green = *out;
	return CUDA_SUCCESS;
}

ENTRY(cuGreenCtxCreate, NEEDS_INIT, TAKES(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags),
      create(phCtx, desc, dev, flags))
ENTRY(cuCtxFromGreenCtx, NEEDS_INIT, TAKES(CUcontext *pContext, CUgreenCtx hCtx),
      ANSWER_OF(hCtx &&context_ok(hCtx->ctx), CUDA_ERROR_INVALID_CONTEXT, pContext, hCtx->ctx))

static CUresult create_stream(CUstream *out, CUgreenCtx green, unsigned flags, int priority)
{
	if (!out || flags != CU_STREAM_NON_BLOCKING || priority > 0 || priority < -5)
		return CUDA_ERROR_INVALID_VALUE;
	if (!green || !context_ok(green->ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	*out = stream_new(green->ctx, flags, priority);
	return CUDA_SUCCESS;
}

ENTRY(cuGreenCtxStreamCreate, NEEDS_INIT,
      TAKES(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority),
      create_stream(phStream, greenCtx, flags, priority))

/* Never freed: a handle of a context that is gone is known as such. */
static CUresult destroy(CUgreenCtx green)
{
	if (!green || !context_ok(green->ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	context_end_green(green->ctx);
	return CUDA_SUCCESS;
}

ENTRY(cuGreenCtxDestroy, NEEDS_INIT, TAKES(CUgreenCtx hCtx), destroy(hCtx))
