/* The program's own waits and queries: what they prove, and that they count as activity. */
#include "device/guard.h"
#include "lib/buffers/patrol.h"
#include "lib/context/capture.h"
#include "lib/context/current.h"
#include "lib/hooks/hook.h"

static CUresult waited(CUresult r, const char *entry_point)
{
	gmod_noted();
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_patrol_waited();
	return gmod_done(r, entry_point);
}

/*
 * A launch counts as one in the context that was current. Where that was a green one it may have gone to a stream of
 * another: a wait for a context that may be green proves nothing.
 */
static CUresult context_done(CUresult r, uint64_t context, uint64_t began, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on() && gmod_context_is_whole((CUcontext)(uintptr_t)context))
		gmod_prove_context(context, began);
	return waited(r, entry_point);
}

GMOD_EXPORT CUresult cuCtxSynchronize(void)
{
	GMOD_GUARD_PAUSED;
	uint64_t began = gmod_ticks(), context = gmod_on() ? gmod_ask_current_context() : 0;

	gmod_ordered_passed();
	return context_done(NEXT(cuCtxSynchronize)(), context, began, __func__);
}

GMOD_EXPORT CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
	GMOD_GUARD_PAUSED;
	uint64_t began = gmod_ticks();

	gmod_ordered_passed();
	return context_done(NEXT(cuCtxSynchronize_v2)(ctx), gmod_handle(ctx), began, __func__);
}

/* A wait or query. A query that says "not ready" waited for nothing and changes nothing: programs poll with it. */
static CUresult ask_stream(CUstream stream, enum gmod_flavour flavour, PFN_cuStreamQuery_v2000 next,
			   const char *entry_point)
{
	uint64_t began = gmod_ticks();
	CUresult r;

	gmod_ordered_joined(stream, flavour, true);
	r = next(stream);
	if (r == CUDA_ERROR_NOT_READY)
		return r;
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_prove_stream(gmod_waited_stream(stream, flavour), began);
	return waited(r, entry_point);
}

GMOD_EXPORT CUresult cuStreamSynchronize(CUstream stream)
{
	return ask_stream(stream, GMOD_LEGACY, NEXT(cuStreamSynchronize), __func__);
}

GMOD_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	return ask_stream(stream, GMOD_PER_THREAD, NEXT(cuStreamSynchronize_ptsz), __func__);
}

GMOD_EXPORT CUresult cuStreamQuery(CUstream stream)
{
	return ask_stream(stream, GMOD_LEGACY, NEXT(cuStreamQuery), __func__);
}

GMOD_EXPORT CUresult cuStreamQuery_ptsz(CUstream stream)
{
	return ask_stream(stream, GMOD_PER_THREAD, NEXT(cuStreamQuery_ptsz), __func__);
}

static struct gmod_event_proof covers(CUevent event)
{
	struct gmod_event_proof nothing = {0};

	return gmod_on() ? gmod_event_covers(gmod_handle(event)) : nothing;
}

static CUresult ask_event(CUevent event, PFN_cuEventQuery_v2000 next, const char *entry_point)
{
	struct gmod_event_proof covered = covers(event);
	CUresult r = next(event);

	if (r == CUDA_ERROR_NOT_READY)
		return r;
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_prove_event(&covered);
	return waited(r, entry_point);
}

GMOD_EXPORT CUresult cuEventSynchronize(CUevent event)
{
	return ask_event(event, NEXT(cuEventSynchronize), __func__);
}

GMOD_EXPORT CUresult cuEventQuery(CUevent event)
{
	return ask_event(event, NEXT(cuEventQuery), __func__);
}

static void forget(CUevent event)
{
	if (gmod_on())
		gmod_event_forget(gmod_handle(event));
}

/*
 * While the driver is recording, the event stands for nothing: another thread's query could be answered for the old
 * record or for the new one. Returns when the recording began.
 */
static uint64_t record_begin(CUevent event, CUstream stream, enum gmod_flavour flavour)
{
	gmod_ordered_joined(stream, flavour, true);
	forget(event);
	return gmod_ticks();
}

static CUresult record_end(CUresult r, CUevent event, CUstream stream, enum gmod_flavour flavour, uint64_t began,
			   const char *entry_point)
{
	/* What goes into a graph has not happened. */
	if (r == CUDA_SUCCESS && gmod_on() && !gmod_is_captured(stream, flavour))
		gmod_event_recorded(gmod_handle(event), gmod_waited_stream(stream, flavour), began);
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
	uint64_t began = record_begin(event, stream, GMOD_LEGACY);

	return record_end(NEXT(cuEventRecord)(event, stream), event, stream, GMOD_LEGACY, began, __func__);
}

GMOD_EXPORT CUresult cuEventRecord_ptsz(CUevent event, CUstream stream)
{
	uint64_t began = record_begin(event, stream, GMOD_PER_THREAD);

	return record_end(NEXT(cuEventRecord_ptsz)(event, stream), event, stream, GMOD_PER_THREAD, began, __func__);
}

GMOD_EXPORT CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
	uint64_t began = record_begin(event, stream, GMOD_LEGACY);

	return record_end(NEXT(cuEventRecordWithFlags)(event, stream, flags), event, stream, GMOD_LEGACY, began,
			  __func__);
}

GMOD_EXPORT CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags)
{
	uint64_t began = record_begin(event, stream, GMOD_PER_THREAD);

	return record_end(NEXT(cuEventRecordWithFlags_ptsz)(event, stream, flags), event, stream, GMOD_PER_THREAD,
			  began, __func__);
}

static CUresult wait_event(CUstream stream, CUevent event, unsigned int flags, enum gmod_flavour flavour,
			   PFN_cuStreamWaitEvent_v3020 next, const char *entry_point)
{
	struct gmod_event_proof covered = covers(event);
	CUresult r;

	gmod_ordered_joined(stream, flavour, false);
	r = next(stream, event, flags);

	if (r == CUDA_SUCCESS && gmod_on() && !gmod_is_captured(stream, flavour))
		gmod_stream_waits(gmod_waited_stream(stream, flavour), &covered, gmod_ticks());
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	return wait_event(stream, event, flags, GMOD_LEGACY, NEXT(cuStreamWaitEvent), __func__);
}

GMOD_EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags)
{
	return wait_event(stream, event, flags, GMOD_PER_THREAD, NEXT(cuStreamWaitEvent_ptsz), __func__);
}

static CUresult destroy_stream(CUstream stream, PFN_cuStreamDestroy_v4000 next, const char *entry_point)
{
	if (gmod_on()) {
		gmod_ordered_stream_ends(gmod_handle(stream));
		gmod_stream_destroyed(gmod_handle(stream));
	}
	return waited(next(stream), entry_point);
}

/* The first ABIs of these differ in name only, and are what dlsym gives for the plain name. */
GMOD_EXPORT CUresult cuStreamDestroy(CUstream stream)
{
	return destroy_stream(stream, NEXT(cuStreamDestroy), __func__);
}

GMOD_EXPORT CUresult cuStreamDestroy_v2(CUstream stream)
{
	return destroy_stream(stream, NEXT(cuStreamDestroy_v2), __func__);
}

static void event_ends(CUevent event)
{
	if (gmod_on())
		gmod_event_destroyed(gmod_handle(event));
}

GMOD_EXPORT CUresult cuEventDestroy(CUevent event)
{
	event_ends(event);
	return gmod_done(NEXT(cuEventDestroy)(event), __func__);
}

GMOD_EXPORT CUresult cuEventDestroy_v2(CUevent event)
{
	event_ends(event);
	return gmod_done(NEXT(cuEventDestroy_v2)(event), __func__);
}

static CUresult shared(CUresult r, const CUevent *event, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_event_shared(gmod_handle(*event));
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
	return shared(NEXT(cuIpcGetEventHandle)(pHandle, event), &event, __func__);
}

GMOD_EXPORT CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
	return shared(NEXT(cuIpcOpenEventHandle)(phEvent, handle), phEvent, __func__);
}

/* An event over a whole context stands for no one stream: it proves nothing here. */
GMOD_EXPORT CUresult cuCtxRecordEvent(CUcontext context, CUevent event)
{
	gmod_ordered_passed();
	forget(event);
	return gmod_done(NEXT(cuCtxRecordEvent)(context, event), __func__);
}

GMOD_EXPORT CUresult cuGreenCtxRecordEvent(CUgreenCtx context, CUevent event)
{
	gmod_ordered_passed();
	forget(event);
	return gmod_done(NEXT(cuGreenCtxRecordEvent)(context, event), __func__);
}
