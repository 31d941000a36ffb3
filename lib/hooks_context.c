/* Life of the driver and of contexts. */
#include "device/guard.h"
#include "lib/heap.h"
#include "lib/hook.h"
#include "lib/mapped.h"
#include "lib/start.h"

GMOD_EXPORT CUresult cuInit(unsigned int Flags)
{
	CUresult r;

	/* Without a driver there is nothing to initialise; what a program expects to hear then is this. */
	if (!gmod_driver_resolve())
		return CUDA_ERROR_NO_DEVICE;
	r = NEXT(cuInit)(Flags);
	if (r == CUDA_SUCCESS)
		gmod_start();
	return r;
}

static CUresult made(CUresult r, const CUcontext *context, const char *entry_point)
{
	if (r == CUDA_SUCCESS && context)
		gmod_context_met(*context);
	return gmod_done(r, entry_point);
}

/* The first ABI of it differs in name only, and is what dlsym("cuCtxCreate") gives. */
GMOD_EXPORT CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	return made(NEXT(cuCtxCreate)(pctx, flags, dev), pctx, __func__);
}

GMOD_EXPORT CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	return made(NEXT(cuCtxCreate_v2)(pctx, flags, dev), pctx, __func__);
}

GMOD_EXPORT CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
				    unsigned int flags, CUdevice dev)
{
	return made(NEXT(cuCtxCreate_v3)(pctx, paramsArray, numParams, flags, dev), pctx, __func__);
}

GMOD_EXPORT CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
				    CUdevice dev)
{
	return made(NEXT(cuCtxCreate_v4)(pctx, ctxCreateParams, flags, dev), pctx, __func__);
}

GMOD_EXPORT CUresult cuCtxSetCurrent(CUcontext ctx)
{
	return made(NEXT(cuCtxSetCurrent)(ctx), &ctx, __func__);
}

/* The first ABI of it differs in name only, and is what dlsym("cuCtxPushCurrent") gives. */
GMOD_EXPORT CUresult cuCtxPushCurrent(CUcontext ctx)
{
	return made(NEXT(cuCtxPushCurrent)(ctx), &ctx, __func__);
}

GMOD_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	return made(NEXT(cuCtxPushCurrent_v2)(ctx), &ctx, __func__);
}

static struct gmod_context *leaving(struct gmod_context *c)
{
	return c && gmod_heap_context_leaving(c) ? c : NULL;
}

static CUresult left(struct gmod_context *c, CUresult r, bool gone, const char *entry_point)
{
	if (c && gone)
		gmod_heap_context_gone(c);
	else if (c)
		gmod_heap_context_kept(c);
	gmod_active();
	return gmod_done(r, entry_point);
}

/* The first ABI of it differs in name only, and is what dlsym("cuCtxDestroy") gives. */
GMOD_EXPORT CUresult cuCtxDestroy(CUcontext ctx)
{
	GMOD_GUARD_ASIDE;
	struct gmod_context *c = gmod_phase() == GMOD_OFF ? NULL : leaving(gmod_context_of(ctx));
	CUresult r = NEXT(cuCtxDestroy)(ctx);

	return left(c, r, r == CUDA_SUCCESS, __func__);
}

GMOD_EXPORT CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	GMOD_GUARD_ASIDE;
	struct gmod_context *c = gmod_phase() == GMOD_OFF ? NULL : leaving(gmod_context_of(ctx));
	CUresult r = NEXT(cuCtxDestroy_v2)(ctx);

	return left(c, r, r == CUDA_SUCCESS, __func__);
}

/* Only the driver counts who is attached. It knows the version of a context for as long as that is there. */
static bool is_destroyed(CUcontext ctx)
{
	unsigned version;

	return NEXT(cuCtxGetApiVersion)(ctx, &version) != CUDA_SUCCESS;
}

GMOD_EXPORT CUresult cuCtxDetach(CUcontext ctx)
{
	GMOD_GUARD_ASIDE;
	struct gmod_context *c = gmod_phase() == GMOD_OFF ? NULL : leaving(gmod_context_of(ctx));
	CUresult r = NEXT(cuCtxDetach)(ctx);

	return left(c, r, c && r == CUDA_SUCCESS && is_destroyed(ctx), __func__);
}

/* The device of a context that is not necessarily current: -1 if the driver does not say. */
static int device_of(CUcontext context)
{
	CUdevice device = -1;
	CUcontext popped;

	if (NEXT(cuCtxPushCurrent_v2)(context) != CUDA_SUCCESS) {
		gmod_degraded("cuCtxPushCurrent");
		return -1;
	}
	if (NEXT(cuCtxGetDevice)(&device) != CUDA_SUCCESS || NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
		gmod_degraded("cuCtxGetDevice");
	return device;
}

/* What is mapped has to be opened to each device by itself. There is no way back: what was let in stays. */
GMOD_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
	CUresult r = NEXT(cuCtxEnablePeerAccess)(peerContext, Flags);
	CUdevice reader;

	if (r == CUDA_SUCCESS && gmod_on() && NEXT(cuCtxGetDevice)(&reader) == CUDA_SUCCESS)
		gmod_mapped_let_in(reader, device_of(peerContext));
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	CUresult r = NEXT(cuDevicePrimaryCtxRetain)(pctx, dev);

	if (r == CUDA_SUCCESS && gmod_on() && pctx)
		gmod_context_is_primary(dev, *pctx);
	return made(r, pctx, __func__);
}

static struct gmod_context *primary_leaving(CUdevice device)
{
	return gmod_phase() == GMOD_OFF ? NULL : leaving(gmod_context_of(gmod_context_primary(device)));
}

/*
 * The last release destroys the context, an earlier one does not; only the driver counts. If it does not say, the
 * context is taken as gone: its buffers go unwatched, which is better than being read when they are gone.
 */
static bool primary_is_gone(const struct gmod_context *c, CUresult r, CUdevice device)
{
	unsigned flags = 0;
	int active = 0;

	if (!c || r != CUDA_SUCCESS)
		return false;
	if (NEXT(cuDevicePrimaryCtxGetState)(device, &flags, &active) != CUDA_SUCCESS) {
		gmod_degraded("cuDevicePrimaryCtxGetState");
		return true;
	}
	return !active;
}

/* A library's own retain and release in the midst of a running program must disturb nobody. */
static struct gmod_context *primary_released(CUdevice device)
{
	return gmod_context_last_release(device) ? primary_leaving(device) : NULL;
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	GMOD_GUARD_ASIDE;
	struct gmod_context *c = primary_released(dev);
	CUresult r = NEXT(cuDevicePrimaryCtxRelease)(dev);

	return left(c, r, primary_is_gone(c, r, dev), __func__);
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	GMOD_GUARD_ASIDE;
	struct gmod_context *c = primary_released(dev);
	CUresult r = NEXT(cuDevicePrimaryCtxRelease_v2)(dev);

	return left(c, r, primary_is_gone(c, r, dev), __func__);
}

/* A reset frees everything also where the context itself stays for those who hold it. */
GMOD_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
	GMOD_GUARD_ASIDE;
	struct gmod_context *c = primary_leaving(dev);
	CUresult r = NEXT(cuDevicePrimaryCtxReset)(dev);

	return left(c, r, r == CUDA_SUCCESS, __func__);
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	GMOD_GUARD_ASIDE;
	struct gmod_context *c = primary_leaving(dev);
	CUresult r = NEXT(cuDevicePrimaryCtxReset_v2)(dev);

	return left(c, r, r == CUDA_SUCCESS, __func__);
}

/*
 * Green contexts. Memory allocated in one is the primary context's (measured on driver 580: so its pointers say, and it
 * can be used and freed there once the green context is gone). A green context holds the primary one like a retain
 * does. So what goes with it is our stream, and where nobody else holds the primary context, all of that.
 */

static struct gmod_context *green_leaving(CUgreenCtx green)
{
	CUcontext ctx = NULL;
	struct gmod_context *c;

	if (gmod_phase() == GMOD_OFF || NEXT(cuCtxFromGreenCtx)(&ctx, green) != CUDA_SUCCESS)
		return NULL;
	c = leaving(gmod_context_of(ctx));
	if (c)
		gmod_context_drop_stream(c);
	return c;
}

/* Primary contexts that no retain holds, as far as we have seen: one of them may go too. Returns how many. */
static int orphans_leaving(struct gmod_context *orphan[GMOD_CONTEXTS])
{
	int count = 0;

	for (unsigned i = 0; gmod_phase() != GMOD_OFF && i < GMOD_CONTEXTS; i++)
		if (gmod_context_is_orphan(gmod_context_at(i)))
			orphan[count++] = leaving(gmod_context_at(i));
	return count;
}

/* owner: the context that its buffers belong to; NULL: it has none. */
static void green_left(struct gmod_context *c, CUcontext owner, CUresult r)
{
	if (r != CUDA_SUCCESS)
		gmod_heap_context_kept(c);
	else if (!owner || primary_is_gone(c, r, c->device))
		gmod_heap_context_gone(c);
	else
		gmod_heap_context_moved(c, gmod_context_made(owner));
}

GMOD_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)
{
	GMOD_GUARD_ASIDE;
	struct gmod_context *orphan[GMOD_CONTEXTS], *c = green_leaving(hCtx);
	CUcontext owner = c ? gmod_heap_context_owner(c) ?: gmod_context_primary(c->device) : NULL;
	int orphans = orphans_leaving(orphan);
	CUresult r = NEXT(cuGreenCtxDestroy)(hCtx);

	for (int i = 0; i < orphans; i++)
		left(orphan[i], r, primary_is_gone(orphan[i], r, orphan[i]->device), __func__);
	if (c)
		green_left(c, owner, r);
	gmod_active();
	return gmod_done(r, __func__);
}
