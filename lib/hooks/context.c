/* The life of contexts. */
#include "lib/base/scope.h"
#include "lib/context/primary.h"
#include "lib/hooks/family.h"
#include "lib/buffers/peers.h"
#include "lib/base/facts.h"
#include "monitor/launches/history.h"
#include "monitor/launches/signatures.h"

CUresult gmod_context_used(CUresult r, const CUcontext *context, const char *entry_point)
{
	if (r == CUDA_SUCCESS && context)
		gmod_context_met(*context);
	return gmod_done(r, entry_point);
}

void gmod_leave_dumps(unsigned flags)
{
	if (flags & (CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE))
		gmod_keeper_withdraw();
}

/* Around a call that may end a context. A thread that ended in between would leave its teardown open for ever. */
struct teardown {
	CUcontext handle;             /* NULL: none ends */
	struct gmod_context *context; /* NULL: it has no entry */
	uint64_t began;
	struct gmod_cancel cancel;
};

static struct teardown begin(CUcontext context)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	CUcontext handle = gmod_phase() == GMOD_OFF ? NULL : context;

	return (struct teardown){handle, gmod_context_teardown_begin(handle), gmod_ticks(), cancel};
}

static CUresult end(const struct teardown *t, CUresult r, bool gone, const char *entry_point)
{
	if (t->context && gone)
		gmod_context_teardown_commit(t->context);
	else if (t->context)
		gmod_context_teardown_cancel(t->context);
	if (gone && t->handle) {
		gmod_prove_context(gmod_handle(t->handle), t->began);
		gmod_signatures_end(GMOD_ANY_OWNER, gmod_ticks());
	}
	gmod_cancel_end(t->cancel);
	gmod_noted();
	gmod_ordered_passed();
	return gmod_done(r, entry_point);
}

CUresult gmod_destroy_context(CUcontext context, CUresult (*next)(CUcontext), const char *entry_point)
{
	struct teardown t = begin(context);
	CUresult r = next(context);

	return end(&t, r, r == CUDA_SUCCESS, entry_point);
}

/* Only the driver counts who is attached. It knows the version of a context for as long as that is there. */
static bool is_destroyed(CUcontext ctx)
{
	unsigned version;

	return NEXT(cuCtxGetApiVersion)(ctx, &version) != CUDA_SUCCESS;
}

GMOD_EXPORT CUresult cuCtxDetach(CUcontext ctx)
{
	struct teardown t = begin(ctx);
	CUresult r = NEXT(cuCtxDetach)(ctx);

	return end(&t, r, t.handle && r == CUDA_SUCCESS && is_destroyed(ctx), __func__);
}

/* The device of a context that is not necessarily current: -1 if the driver does not say. */
static int device_of(CUcontext context)
{
	CUdevice device = -1;

	if (!gmod_succeeded(NEXT(cuCtxPushCurrent_v2)(context), "cuCtxPushCurrent"))
		return -1;
	gmod_succeeded(NEXT(cuCtxGetDevice)(&device), "cuCtxGetDevice");
	gmod_context_visit_end(true);
	return device;
}

/* What is mapped has to be opened to each device by itself. There is no way back: what was let in stays. */
GMOD_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
	CUresult r = NEXT(cuCtxEnablePeerAccess)(peerContext, Flags);
	CUdevice reader;

	if (r == CUDA_SUCCESS && gmod_on() && NEXT(cuCtxGetDevice)(&reader) == CUDA_SUCCESS)
		gmod_peers_let_in(reader, device_of(peerContext));
	return gmod_done(r, __func__);
}

/* Where calls for a device's primary context take turns (lib/context/primary.h), and none of them is cut short. */
struct turn {
	CUdevice device;
	bool taken;
	struct gmod_cancel cancel;
};

static struct turn begin_turn(CUdevice device)
{
	struct gmod_cancel cancel = gmod_cancel_begin();

	return (struct turn){device, gmod_phase() != GMOD_OFF && gmod_primary_turn_begin(device), cancel};
}

static void end_turn(const struct turn *t)
{
	gmod_primary_turn_end(t->device, t->taken);
	gmod_cancel_end(t->cancel);
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	struct turn turn = begin_turn(dev);
	CUresult r = NEXT(cuDevicePrimaryCtxRetain)(pctx, dev);

	if (r == CUDA_SUCCESS && gmod_on() && pctx)
		gmod_primary_retained(dev, *pctx);
	end_turn(&turn);
	return gmod_context_used(r, pctx, __func__);
}

/*
 * The last release destroys the context, an earlier one does not; only the driver counts. If it does not say, the
 * context is taken as gone: its buffers go unwatched, which is better than being read when they are gone.
 */
static bool primary_is_gone(CUdevice device)
{
	unsigned flags = 0;
	int active = 0;

	return !gmod_succeeded(NEXT(cuDevicePrimaryCtxGetState)(device, &flags, &active),
			       "cuDevicePrimaryCtxGetState") ||
	       !active;
}

/*
 * A library's own retain and release in the midst of a running program must disturb nobody. A reset frees everything
 * also where the context itself stays for those who hold it.
 */
CUresult gmod_let_go_of(CUdevice device, enum gmod_letting_go how, CUresult (*next)(CUdevice), const char *entry_point)
{
	struct turn turn = begin_turn(device);
	bool may_go = how == GMOD_RESET || gmod_primary_last_release(device);
	struct teardown t = begin(may_go ? gmod_primary_of(device) : NULL);
	CUresult r = next(device);

	r = end(&t, r, t.handle && r == CUDA_SUCCESS && (how == GMOD_RESET || primary_is_gone(device)), entry_point);
	end_turn(&turn);
	return r;
}

static CUcontext context_of_green(CUgreenCtx green)
{
	CUcontext context = NULL;

	return gmod_phase() != GMOD_OFF && NEXT(cuCtxFromGreenCtx)(&context, green) == CUDA_SUCCESS ? context : NULL;
}

/* It lets go of the primary context, which it holds like a retain does, but uncounted. */
GMOD_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)
{
	CUcontext context = context_of_green(hCtx);
	CUdevice device = context ? device_of(context) : -1;
	struct turn turn = begin_turn(device);
	struct teardown t = begin(gmod_primary_is_retained(device) ? NULL : gmod_primary_of(device));
	CUresult r = NEXT(cuGreenCtxDestroy)(hCtx);

	r = end(&t, r, t.handle && r == CUDA_SUCCESS && primary_is_gone(device), __func__);
	end_turn(&turn);
	return r;
}
