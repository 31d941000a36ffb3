/* Events: an event is the op it was last recorded as; recording makes an empty op. */
#include "sim.h"

#include <stdlib.h>

bool event_ok(CUevent event)
{
	return event && event->magic == MAGIC_EVENT;
}

CUresult event_new(CUcontext ctx, CUevent *out, unsigned flags)
{
	CUevent event;

	if (!out || (flags & ~7u))
		return CUDA_ERROR_INVALID_VALUE;
	event = calloc(1, sizeof(*event));
	event->magic = MAGIC_EVENT;
	event->ctx = ctx;
	event->flags = flags;
	event->next = ctx->events;
	ctx->events = event;
	*out = event;
	return CUDA_SUCCESS;
}

ENTRY(cuEventCreate, NEEDS_CONTEXT, TAKES(CUevent *phEvent, unsigned int Flags), event_new(c.ctx, phEvent, Flags))

static void event_free(CUevent event)
{
	UNLINK(event->ctx->events, event);
	op_drop(event->op);
	event->magic = 0;
	free(event->nodes);
	free(event);
}

void events_release_of(CUcontext ctx)
{
	while (ctx->events)
		event_free(ctx->events);
}

/* Of a context that ends. */
void events_lose(CUcontext ctx)
{
	for (CUevent event = ctx->events; event; event = event->next)
		event->lost = true;
}

static CUresult destroy(CUevent event)
{
	if (!event_ok(event))
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->ctx->sticky)
		return event->ctx->sticky;
	event_free(event);
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuEventDestroy, _v2, NEEDS_INIT, TAKES(CUevent hEvent), destroy(hEvent))

/* Takes over the reference. */
static void set_op(CUevent event, struct op *op)
{
	op_drop(event->op);
	event->op = op;
	event->capture_id = 0;
}

static CUresult record(CUevent event, CUstream stream)
{
	struct work none = {.kind = WORK_NONE};
	struct op *op;
	CUresult r;

	if (!event_ok(event) || stream->ctx != event->ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture)
		return capture_record(stream, event);
	r = stream->ctx->sticky ?: capture_check_legacy(stream);
	if (!r)
		r = queue_submit(stream, &none, NULL, 0, &op);
	if (!r)
		set_op(event, op);
	return r;
}

ENTRY_TWINS(cuEventRecord, _ptsz, USES_CONTEXT, TAKES(CUevent hEvent, CUstream hStream),
	    stream_of_call(&c, hStream) ?: record(hEvent, c.stream))

ENTRY_TWINS(cuEventRecordWithFlags, _ptsz, USES_CONTEXT,
	    TAKES(CUevent hEvent, CUstream hStream, unsigned int flags),
	    refuse_if(flags & ~CU_EVENT_RECORD_EXTERNAL, CUDA_ERROR_INVALID_VALUE)
		?: stream_of_call(&c, hStream) ?: record(hEvent, c.stream))

/* All that the context has been given so far. */
static CUresult record_context(CUcontext ctx, CUevent event)
{
	struct work none = {.kind = WORK_NONE};
	struct op *op;
	CUresult r;

	if (!context_ok(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!event_ok(event) || event->ctx != ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	r = ctx->sticky ?: queue_after_everything(ctx, &none, &op);
	if (!r)
		set_op(event, op);
	return r;
}

ENTRY(cuCtxRecordEvent, NEEDS_INIT, TAKES(CUcontext hCtx, CUevent hEvent), record_context(hCtx, hEvent))

/* In each stream that is there. */
static CUresult wait_context(CUcontext ctx, CUevent event)
{
	CUresult r = CUDA_SUCCESS;

	if (!context_ok(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!event_ok(event))
		return CUDA_ERROR_INVALID_HANDLE;
	for (CUstream s = ctx->streams; event->op && s && !r; s = s->next) {
		struct work none = {.kind = WORK_NONE};

		if (!s->destroyed)
			r = queue_submit(s, &none, &event->op, 1, NULL);
	}
	return r;
}

ENTRY(cuCtxWaitEvent, NEEDS_INIT, TAKES(CUcontext hCtx, CUevent hEvent), wait_context(hCtx, hEvent))

static CUresult may_wait(CUevent event)
{
	if (!event_ok(event))
		return CUDA_ERROR_INVALID_HANDLE;
	return event->capture_id ? capture_refuse_event(event) : capture_check_unsafe();
}

static CUresult query(CUevent event)
{
	CUresult r = may_wait(event);

	if (r)
		return r;
	return event->ctx->sticky ?: !event->op || event->op->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

ENTRY(cuEventQuery, NEEDS_INIT, TAKES(CUevent hEvent), query(hEvent))

static CUresult synchronize(CUevent event)
{
	CUresult r = may_wait(event);

	return r ?: pools_trim_after(queue_wait_op(event->ctx, event->op));
}

ENTRY(cuEventSynchronize, NEEDS_INIT, TAKES(CUevent hEvent), synchronize(hEvent))

static CUresult wait_in(CUstream stream, CUevent event, unsigned flags)
{
	struct work none = {.kind = WORK_NONE};

	if (!stream || !event_ok(event))
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (stream->capture || event->capture_id)
		return capture_wait(stream, event);
	if (!event->op)
		return CUDA_SUCCESS;
	return capture_check_legacy(stream) ?: queue_submit(stream, &none, &event->op, 1, NULL);
}

ENTRY_TWINS(cuStreamWaitEvent, _ptsz, NEEDS_CONTEXT, TAKES(CUstream hStream, CUevent hEvent, unsigned int Flags),
	    wait_in(stream_of(c.ctx, hStream, c.per_thread), hEvent, Flags))

static CUresult elapsed(float *ms, CUevent start, CUevent end)
{
	if (!ms)
		return CUDA_ERROR_INVALID_VALUE;
	if (!event_ok(start) || !event_ok(end) || !start->op || !end->op ||
	    ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!start->op->done || !end->op->done)
		return CUDA_ERROR_NOT_READY;
	*ms = (float)((double)(end->op->done_ns - start->op->done_ns) / 1e6);
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuEventElapsedTime, _v2, NEEDS_CONTEXT, TAKES(float *pMilliseconds, CUevent hStart, CUevent hEnd),
	   elapsed(pMilliseconds, hStart, hEnd))

/* An external semaphore is an event here, of which a signal is a record. */
ENTRY_TWINS(cuSignalExternalSemaphoresAsync, _ptsz, USES_CONTEXT,
	    TAKES(const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
		  unsigned count, CUstream hStream),
	    stream_of_call(&c, hStream)
		?: count ? record((CUevent)semaphores[0], c.stream)
			 : CUDA_SUCCESS)
ENTRY_TWINS(cuWaitExternalSemaphoresAsync, _ptsz, USES_CONTEXT,
	    TAKES(const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
		  unsigned count, CUstream hStream),
	    stream_of_call(&c, hStream)
		?: count ? wait_in(c.stream, (CUevent)semaphores[0], 0)
			 : CUDA_SUCCESS)

static CUresult come_behind(CUstream stream)
{
	struct work none = {.kind = WORK_NONE};

	return queue_submit(stream, &none, NULL, 0, NULL);
}

ENTRY_TWINS(cuGraphicsMapResources, _ptsz, USES_CONTEXT,
	    TAKES(unsigned count, CUgraphicsResource *resources, CUstream hStream),
	    stream_of_call(&c, hStream) ?: come_behind(c.stream))
ENTRY_TWINS(cuGraphicsUnmapResources, _ptsz, USES_CONTEXT,
	    TAKES(unsigned count, CUgraphicsResource *resources, CUstream hStream),
	    stream_of_call(&c, hStream) ?: come_behind(c.stream))

/* Nothing runs in green contexts here. */
static CUresult record_green(CUevent event)
{
	if (!event_ok(event))
		return CUDA_ERROR_INVALID_HANDLE;
	set_op(event, NULL);
	return CUDA_SUCCESS;
}

ENTRY(cuGreenCtxRecordEvent, NEEDS_INIT, TAKES(CUgreenCtx hCtx, CUevent hEvent), record_green(hEvent))
