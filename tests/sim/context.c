/*
 * Contexts: primary and made, and the stack of current ones that every thread has.
 *
 * A dead context's struct and events stay for a while, because threads may still hold it on their stacks: it answers
 * with CUDA_ERROR_CONTEXT_IS_DESTROYED. A primary context keeps its struct, and so its handle, when it is
 * released or reset and retained again.
 */
#include "sim.h"

#include <stdlib.h>

#define MAX_DEPTH 64
#define DEAD_KEPT 64

static __thread CUcontext stack[MAX_DEPTH];
static __thread int depth;

unsigned long thread_number(void)
{
	static unsigned long last;
	static __thread unsigned long own;

	if (!own)
		own = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return own;
}

CUcontext context_current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

bool context_known(CUcontext ctx)
{
	for (CUcontext c = sim.contexts; c; c = c->next)
		if (c == ctx)
			return true;
	return false;
}

bool context_ok(CUcontext ctx)
{
	return context_known(ctx) && ctx->alive;
}

/* A context takes some of the device's memory, so that not all of it can be allocated. */
static size_t overhead(void)
{
	return sim.memory / 64 / SIM_CHUNK * SIM_CHUNK;
}

static CUresult bring_to_life(CUcontext ctx, unsigned flags)
{
	if (sim.device[ctx->device].lost)
		return sim.device[ctx->device].lost;
	if (!device_charge(ctx->device, overhead()))
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->chunk = chunks_take(SIM_CHUNK, false);
	arena_open(&sim_device_arena, ctx->chunk, SIM_CHUNK);
	access_open(ctx->chunk, SIM_CHUNK, ctx->device, false);
	ctx->alive = true;
	ctx->flags = flags;
	ctx->sticky = CUDA_SUCCESS;
	ctx->dump = coredump_settings();
	ctx->peers = 1u << ctx->device;
	ctx->legacy = stream_new(ctx, CU_STREAM_DEFAULT, 0);
	return CUDA_SUCCESS;
}

/* All dead ones but the last that were made. */
static void forget_the_dead(void)
{
	int dead = 0;
	CUcontext next;

	for (CUcontext c = sim.contexts; c; c = next) {
		next = c->next;
		if (c->alive || c->primary || c->owner || c->streams || ++dead <= DEAD_KEPT)
			continue;
		UNLINK(sim.contexts, c);
		events_release_of(c);
		free(c);
	}
}

static CUcontext context_new(CUdevice device, bool primary)
{
	CUcontext ctx;

	forget_the_dead();
	ctx = calloc(1, sizeof(*ctx));
	ctx->magic = MAGIC_CONTEXT;
	ctx->device = device;
	ctx->primary = primary;
	ctx->api_version = 3020;
	ctx->heap = 8 << 20;
	ctx->next = sim.contexts;
	sim.contexts = ctx;
	return ctx;
}

/* Waits for the work that is there, then takes everything away. */
static void context_kill(CUcontext ctx)
{
	coredump_hang();
	capture_invalidate_context(ctx);
	queue_wait_context(ctx);
	if (!ctx->alive)
		return; /* somebody else was faster */
	ctx->alive = false;
	ctx->refs = 0;
	streams_release_of(ctx);
	modules_release_of(ctx);
	arrays_release_of(ctx);
	events_lose(ctx);
	blocks_release_of(ctx);
	pools_trim();
	arena_close(&sim_device_arena, ctx->chunk, SIM_CHUNK);
	chunks_give(ctx->chunk, SIM_CHUNK);
	device_uncharge(ctx->device, overhead());
}

/* Made contexts. */

static CUresult create(CUcontext *out, unsigned flags, CUdevice device, unsigned version)
{
	CUcontext ctx;
	CUresult r;

	if (!out || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (depth == MAX_DEPTH)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx = context_new(device, false);
	ctx->api_version = version;
	ctx->refs = 1;
	r = bring_to_life(ctx, flags);
	if (r)
		return r;
	stack[depth++] = ctx;
	*out = ctx;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxCreate, NEEDS_INIT, TAKES(CUcontext *pctx, unsigned int flags, CUdevice dev), create(pctx, flags, dev, 3010))
ENTRY(cuCtxCreate_v2, NEEDS_INIT, TAKES(CUcontext *pctx, unsigned int flags, CUdevice dev),
      create(pctx, flags, dev, 3020))
ENTRY(cuCtxCreate_v3, NEEDS_INIT,
      TAKES(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags, CUdevice dev),
      refuse_if(numParams, CUDA_ERROR_NOT_SUPPORTED) ?: create(pctx, flags, dev, 3020))
ENTRY(cuCtxCreate_v4, NEEDS_INIT,
      TAKES(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev),
      refuse_if(ctxCreateParams && (ctxCreateParams->numExecAffinityParams || ctxCreateParams->cigParams),
		CUDA_ERROR_NOT_SUPPORTED)
	  ?: create(pctx, flags, dev, 3020))

static CUresult destroy(CUcontext ctx)
{
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!context_known(ctx) || ctx->primary || ctx->owner)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!ctx->alive)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	context_kill(ctx);
	if (context_current() == ctx)
		depth--;
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuCtxDestroy, _v2, NEEDS_INIT, TAKES(CUcontext ctx), destroy(ctx))

/* Deprecated: a count of those who use a context. A primary context can be attached to, but never goes by a detach. */

static CUresult attach(CUcontext *out, unsigned flags)
{
	CUcontext ctx = context_current();

	if (!out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!ctx->primary)
		ctx->refs++;
	*out = ctx;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxAttach, NEEDS_INIT, TAKES(CUcontext *pctx, unsigned int flags), attach(pctx, flags))

static CUresult detach(CUcontext ctx)
{
	if (!ctx || ctx != context_current() || ctx->owner)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!ctx->alive)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	if (ctx->primary || --ctx->refs > 0)
		return CUDA_SUCCESS;
	return destroy(ctx);
}

ENTRY(cuCtxDetach, NEEDS_INIT, TAKES(CUcontext ctx), detach(ctx))

/* Primary contexts. */

static CUresult retain(CUcontext *out, CUdevice device)
{
	CUresult r = CUDA_SUCCESS;
	struct device *d;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	d = &sim.device[device];
	if (!d->primary)
		d->primary = context_new(device, true);
	if (!d->primary->alive)
		r = bring_to_life(d->primary, d->primary->flags);
	if (r)
		return r;
	d->primary->refs++;
	*out = d->primary;
	return CUDA_SUCCESS;
}

ENTRY(cuDevicePrimaryCtxRetain, NEEDS_INIT, TAKES(CUcontext *pctx, CUdevice dev), retain(pctx, dev))

static CUresult release(CUdevice device)
{
	CUcontext ctx;

	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	ctx = sim.device[device].primary;
	if (!ctx || !ctx->refs)
		return CUDA_ERROR_INVALID_CONTEXT;
	/* A reset has ended it but left it retained. */
	if (--ctx->refs == 0 && ctx->alive)
		context_kill(ctx);
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuDevicePrimaryCtxRelease, _v2, NEEDS_INIT, TAKES(CUdevice dev), release(dev))

static bool has_green(CUcontext primary)
{
	for (CUcontext c = sim.contexts; c; c = c->next)
		if (c->owner == primary && c->alive)
			return true;
	return false;
}

static CUresult reset(CUdevice device)
{
	CUcontext ctx;

	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	ctx = sim.device[device].primary;
	if (ctx && has_green(ctx))
		return CUDA_ERROR_NOT_PERMITTED;
	if (ctx && ctx->alive) {
		int retained = ctx->refs;

		context_kill(ctx);
		ctx->refs = retained;
	}
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuDevicePrimaryCtxReset, _v2, NEEDS_INIT, TAKES(CUdevice dev), reset(dev))

static CUresult primary_state(CUdevice device, unsigned *flags, int *active)
{
	CUcontext ctx;

	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	ctx = sim.device[device].primary;
	if (flags)
		*flags = ctx ? ctx->flags : 0;
	if (active)
		*active = ctx && ctx->alive;
	return CUDA_SUCCESS;
}

ENTRY(cuDevicePrimaryCtxGetState, NEEDS_INIT, TAKES(CUdevice dev, unsigned int *flags, int *active),
      primary_state(dev, flags, active))

/* What a green context is converted to: a context of its own, in the memory of the primary one, which it retains. */

CUresult context_of_green(CUdevice device, CUcontext *out)
{
	CUcontext primary, ctx;
	CUresult r = retain(&primary, device);

	if (r)
		return r;
	ctx = context_new(device, false);
	r = bring_to_life(ctx, 0);
	if (r) {
		release(device);
		return r;
	}
	ctx->owner = primary;
	*out = ctx;
	return CUDA_SUCCESS;
}

void context_end_green(CUcontext ctx)
{
	context_kill(ctx);
	release(ctx->device);
}

/* The current context. */

/* A destroyed one too: the calls in it say so. */
static CUresult set_current(CUcontext ctx)
{
	if (ctx && !context_known(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ctx && depth == 0)
		depth = 1;
	if (ctx)
		stack[depth - 1] = ctx;
	else if (depth)
		depth--;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxSetCurrent, NEEDS_INIT, TAKES(CUcontext ctx), set_current(ctx))
ENTRY(cuCtxGetCurrent, NEEDS_INIT, TAKES(CUcontext *pctx), ANSWER(pctx, context_current()))

static CUresult push(CUcontext ctx)
{
	if (!ctx || !context_known(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!ctx->alive)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	if (depth == MAX_DEPTH)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[depth++] = ctx;
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuCtxPushCurrent, _v2, NEEDS_INIT, TAKES(CUcontext ctx), push(ctx))

static CUresult pop(CUcontext *out)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (out)
		*out = stack[depth];
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuCtxPopCurrent, _v2, NEEDS_INIT, TAKES(CUcontext *pctx), pop(pctx))
