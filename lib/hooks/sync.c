/* The program's own waits and queries: what they prove, and that they count as activity. */
#include "device/guard.h"
#include "lib/context/capture.h"
#include "lib/hooks/hook.h"

static CUresult waited(CUresult r, const char *entry_point)
{
	gmod_active();
	return gmod_done(r, entry_point);
}

/*
 * A launch counts as one in the context that was current. Where that was a green one it may have gone to a stream of
 * another: a wait for a green context proves what is in its default stream alone.
 */
static void prove_context(uint64_t context, uint64_t began)
{
	if (gmod_context_is_whole((CUcontext)(uintptr_t)context))
		gmod_prove_context(context, began);
	else
		gmod_prove_stream(gmod_stream_key(GMOD_KEY_LEGACY, GMOD_LEGACY, context), began);
}

static CUresult context_done(CUresult r, uint64_t context, uint64_t began, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on())
		prove_context(context, began);
	return waited(r, entry_point);
}

GMOD_EXPORT CUresult cuCtxSynchronize(void)
{
	GMOD_GUARD_PAUSED;
	uint64_t began = gmod_ticks(), context = gmod_on() ? gmod_ask_current_context() : 0;

	return context_done(NEXT(cuCtxSynchronize)(), context, began, __func__);
}

GMOD_EXPORT CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
	GMOD_GUARD_PAUSED;
	uint64_t began = gmod_ticks();

	return context_done(NEXT(cuCtxSynchronize_v2)(ctx), gmod_handle(ctx), began, __func__);
}

static CUresult stream_done(CUresult r, CUstream stream, enum gmod_flavour flavour, uint64_t began,
			    const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_prove_stream(gmod_waited_stream(stream, flavour), began);
	return waited(r, entry_point);
}

GMOD_EXPORT CUresult cuStreamSynchronize(CUstream hStream)
{
	uint64_t began = gmod_ticks();

	return stream_done(NEXT(cuStreamSynchronize)(hStream), hStream, GMOD_LEGACY, began, __func__);
}

GMOD_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream hStream)
{
	uint64_t began = gmod_ticks();

	return stream_done(NEXT(cuStreamSynchronize_ptsz)(hStream), hStream, GMOD_PER_THREAD, began, __func__);
}

/* A query that says "not ready" waited for nothing and changes nothing: programs poll with it. */
GMOD_EXPORT CUresult cuStreamQuery(CUstream hStream)
{
	uint64_t began = gmod_ticks();
	CUresult r = NEXT(cuStreamQuery)(hStream);

	return r == CUDA_ERROR_NOT_READY ? r : stream_done(r, hStream, GMOD_LEGACY, began, __func__);
}

GMOD_EXPORT CUresult cuStreamQuery_ptsz(CUstream hStream)
{
	uint64_t began = gmod_ticks();
	CUresult r = NEXT(cuStreamQuery_ptsz)(hStream);

	return r == CUDA_ERROR_NOT_READY ? r : stream_done(r, hStream, GMOD_PER_THREAD, began, __func__);
}

static struct gmod_event_proof covers(CUevent event)
{
	struct gmod_event_proof nothing = {0};

	return gmod_on() ? gmod_event_covers(gmod_handle(event)) : nothing;
}

static CUresult event_done(CUresult r, const struct gmod_event_proof *covered, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_prove_event(covered);
	return waited(r, entry_point);
}

GMOD_EXPORT CUresult cuEventSynchronize(CUevent hEvent)
{
	struct gmod_event_proof covered = covers(hEvent);

	return event_done(NEXT(cuEventSynchronize)(hEvent), &covered, __func__);
}

GMOD_EXPORT CUresult cuEventQuery(CUevent hEvent)
{
	struct gmod_event_proof covered = covers(hEvent);
	CUresult r = NEXT(cuEventQuery)(hEvent);

	return r == CUDA_ERROR_NOT_READY ? r : event_done(r, &covered, __func__);
}

/*
 * While the driver is recording, the event stands for nothing: another thread's query could be answered for the old
 * record or for the new one. Returns when the recording began.
 */
static uint64_t recording(CUevent event)
{
	if (gmod_on())
		gmod_event_forget(gmod_handle(event));
	return gmod_ticks();
}

static CUresult recorded(CUresult r, CUevent event, CUstream stream, enum gmod_flavour flavour, uint64_t began,
			 const char *entry_point)
{
	/* What goes into a graph has not happened. */
	if (r == CUDA_SUCCESS && gmod_on() && !gmod_is_captured(stream, flavour))
		gmod_event_recorded(gmod_handle(event), gmod_waited_stream(stream, flavour), began);
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
{
	uint64_t began = recording(hEvent);

	return recorded(NEXT(cuEventRecord)(hEvent, hStream), hEvent, hStream, GMOD_LEGACY, began, __func__);
}

GMOD_EXPORT CUresult cuEventRecord_ptsz(CUevent hEvent, CUstream hStream)
{
	uint64_t began = recording(hEvent);

	return recorded(NEXT(cuEventRecord_ptsz)(hEvent, hStream), hEvent, hStream, GMOD_PER_THREAD, began, __func__);
}

GMOD_EXPORT CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
	uint64_t began = recording(hEvent);

	return recorded(NEXT(cuEventRecordWithFlags)(hEvent, hStream, flags), hEvent, hStream, GMOD_LEGACY, began,
			__func__);
}

GMOD_EXPORT CUresult cuEventRecordWithFlags_ptsz(CUevent hEvent, CUstream hStream, unsigned int flags)
{
	uint64_t began = recording(hEvent);

	return recorded(NEXT(cuEventRecordWithFlags_ptsz)(hEvent, hStream, flags), hEvent, hStream, GMOD_PER_THREAD,
			began, __func__);
}

static CUresult waits(CUresult r, CUstream stream, enum gmod_flavour flavour, const struct gmod_event_proof *covered,
		      const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on() && !gmod_is_captured(stream, flavour))
		gmod_stream_waits(gmod_waited_stream(stream, flavour), covered, gmod_ticks());
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	struct gmod_event_proof covered = covers(hEvent);

	return waits(NEXT(cuStreamWaitEvent)(hStream, hEvent, Flags), hStream, GMOD_LEGACY, &covered, __func__);
}

GMOD_EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	struct gmod_event_proof covered = covers(hEvent);

	return waits(NEXT(cuStreamWaitEvent_ptsz)(hStream, hEvent, Flags), hStream, GMOD_PER_THREAD, &covered,
		     __func__);
}

static void stream_goes(CUstream stream)
{
	if (gmod_on())
		gmod_stream_destroyed(gmod_handle(stream));
}

/* The first ABIs of these differ in name only, and are what dlsym gives for the plain name. */
GMOD_EXPORT CUresult cuStreamDestroy(CUstream hStream)
{
	stream_goes(hStream);
	return waited(NEXT(cuStreamDestroy)(hStream), __func__);
}

GMOD_EXPORT CUresult cuStreamDestroy_v2(CUstream hStream)
{
	stream_goes(hStream);
	return waited(NEXT(cuStreamDestroy_v2)(hStream), __func__);
}

GMOD_EXPORT CUresult cuEventDestroy(CUevent hEvent)
{
	if (gmod_on())
		gmod_event_forget(gmod_handle(hEvent));
	return gmod_done(NEXT(cuEventDestroy)(hEvent), __func__);
}

GMOD_EXPORT CUresult cuEventDestroy_v2(CUevent hEvent)
{
	if (gmod_on())
		gmod_event_forget(gmod_handle(hEvent));
	return gmod_done(NEXT(cuEventDestroy_v2)(hEvent), __func__);
}

/* An event over a whole context stands for no one stream: it proves nothing here. */
GMOD_EXPORT CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
	if (gmod_on())
		gmod_event_forget(gmod_handle(hEvent));
	return gmod_done(NEXT(cuCtxRecordEvent)(hCtx, hEvent), __func__);
}

GMOD_EXPORT CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
	return gmod_done(NEXT(cuCtxWaitEvent)(hCtx, hEvent), __func__);
}
