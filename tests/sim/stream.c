/* Streams: which one a handle means, making and destroying them, asking and waiting. */
#include "sim.h"

#include <stdlib.h>

#define PER_THREAD_FLAG 0x80000000u /* in flags: a per-thread default stream */

CUstream stream_new(CUcontext ctx, unsigned flags, int priority)
{
	CUstream stream = calloc(1, sizeof(*stream));

	stream->magic = MAGIC_STREAM;
	stream->ctx = ctx;
	stream->flags = flags;
	stream->priority = priority;
	pthread_cond_init(&stream->wake, NULL);
	stream->next = ctx->streams;
	ctx->streams = stream;
	return stream;
}

bool stream_is_legacy(CUstream stream)
{
	return stream == stream->ctx->legacy;
}

static void end(CUstream stream)
{
	capture_drop_stream(stream);
	stream->destroyed = true;
	if (stream->working)
		pthread_cond_signal(&stream->wake); /* the worker frees it when the queue is empty */
	else
		stream_free(stream);
}

/* Its per-thread streams, in all contexts. */
static void thread_ends(void *unused)
{
	CUstream next;

	if (sim_forked)
		return;
	sim_lock();
	for (CUcontext c = sim.contexts; c; c = c->next)
		for (CUstream s = c->streams; s; s = next) {
			next = s->next;
			if ((s->flags & PER_THREAD_FLAG) && s->thread == thread_number() && !s->destroyed)
				end(s);
		}
	sim_unlock();
}

static pthread_key_t at_end;

static void make_at_end(void)
{
	pthread_key_create(&at_end, thread_ends);
}

static CUstream per_thread_stream(CUcontext ctx)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	CUstream s;

	for (s = ctx->streams; s; s = s->next)
		if ((s->flags & PER_THREAD_FLAG) && s->thread == thread_number() && !s->destroyed)
			return s;
	s = stream_new(ctx, PER_THREAD_FLAG, 0);
	s->thread = thread_number();
	pthread_once(&once, make_at_end);
	pthread_setspecific(at_end, s);
	return s;
}

/* NULL for a handle that is none, as a thread's is in a green context. A stream of another context is found too. */
CUstream stream_of(CUcontext ctx, CUstream handle, bool per_thread)
{
	if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread))
		return ctx->green ? NULL : per_thread_stream(ctx);
	if (handle == CU_STREAM_LEGACY || !handle)
		return ctx->legacy;
	for (CUcontext c = sim.contexts; c; c = c->next)
		for (CUstream s = c->streams; s; s = s->next)
			if (s == handle)
				return s->destroyed ? NULL : s;
	return NULL;
}

/* Of a call that uses a context: what a default stream's handle means it decides, a real stream has its own. */
CUresult stream_of_call(struct call *call, CUstream handle)
{
	bool by_default = !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;

	if (!call->ctx && by_default)
		return CUDA_ERROR_INVALID_CONTEXT;
	call->stream = stream_of(call->ctx, handle, call->per_thread);
	return call->stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void streams_release_of(CUcontext ctx)
{
	CUstream next;

	for (CUstream s = ctx->streams; s; s = next) {
		next = s->next;
		if (!s->destroyed)
			end(s);
	}
	ctx->legacy = NULL;
}

/* Submit, or capture. Takes over the work. */
CUresult stream_do(CUcontext ctx, CUstream handle, bool per_thread, struct work *work)
{
	CUstream stream = stream_of(ctx, handle, per_thread);
	CUresult r = CUDA_SUCCESS;

	if (stream && stream->capture)
		return capture_append(stream, work, NULL);
	r = stream ? capture_check_legacy(stream) : CUDA_ERROR_INVALID_HANDLE;
	if (!r && stream->ctx->sticky)
		r = stream->ctx->sticky;
	if (r) {
		work_clear(work);
		return r;
	}
	return queue_submit(stream, work, NULL, 0, NULL);
}

/* What a synchronous call must not meet on its default stream; other captures do not mind it. */
CUresult stream_check_default(CUcontext ctx, bool per_thread)
{
	CUstream stream = stream_of(ctx, NULL, per_thread);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	return stream->capture ? capture_refuse(stream) : capture_check_legacy(stream);
}

CUresult stream_do_and_wait(CUcontext ctx, CUstream handle, bool per_thread, struct work *work)
{
	CUstream stream = stream_of(ctx, handle, per_thread);
	CUresult r = stream ? capture_check_legacy(stream) : CUDA_ERROR_INVALID_HANDLE;
	struct op *op;

	if (!r && stream->capture)
		r = capture_refuse(stream);
	if (r) {
		work_clear(work);
		return r;
	}
	r = queue_submit(stream, work, NULL, 0, &op);
	if (r)
		return r;
	r = queue_wait_op(stream->ctx, op);
	op_drop(op);
	return r;
}

static CUresult create(CUcontext ctx, CUstream *out, unsigned flags, int priority)
{
	if (!out || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
		return CUDA_ERROR_INVALID_VALUE;
	if (priority > 0)
		priority = 0;
	if (priority < -5)
		priority = -5;
	*out = stream_new(ctx, flags, priority);
	return CUDA_SUCCESS;
}

ENTRY(cuStreamCreate, NEEDS_CONTEXT, TAKES(CUstream *phStream, unsigned int Flags), create(c.ctx, phStream, Flags, 0))
ENTRY(cuStreamCreateWithPriority, NEEDS_CONTEXT, TAKES(CUstream *phStream, unsigned int flags, int priority),
      create(c.ctx, phStream, flags, priority))

static CUresult destroy(CUcontext ctx, CUstream handle)
{
	CUstream stream;

	if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
		return CUDA_ERROR_INVALID_HANDLE;
	stream = stream_of(ctx, handle, false);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	end(stream);
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuStreamDestroy, _v2, NEEDS_CONTEXT, TAKES(CUstream hStream), destroy(c.ctx, hStream))

/* Waiting for the legacy stream waits for the blocking streams too: an empty op depends on them. */
static CUresult wait_legacy(CUstream stream)
{
	struct work none = {.kind = WORK_NONE};
	struct op *op;
	CUresult r = queue_submit(stream, &none, NULL, 0, &op);

	if (r)
		return r;
	r = queue_wait_op(stream->ctx, op);
	op_drop(op);
	return r;
}

static CUresult may_wait(CUstream stream)
{
	return stream->capture ? capture_refuse(stream) : capture_check_legacy(stream) ?: capture_check_unsafe();
}

static CUresult synchronize(CUstream stream)
{
	CUresult r = may_wait(stream);

	if (r)
		return r;
	return pools_trim_after(stream_is_legacy(stream) ? wait_legacy(stream) : queue_wait_stream(stream));
}

ENTRY_TWINS(cuStreamSynchronize, _ptsz, USES_CONTEXT, TAKES(CUstream hStream),
	    stream_of_call(&c, hStream) ?: synchronize(c.stream))

static bool all_blocking_idle(CUcontext ctx)
{
	for (CUstream s = ctx->streams; s; s = s->next)
		if (!(s->flags & CU_STREAM_NON_BLOCKING) && !queue_idle(s))
			return false;
	return true;
}

static CUresult query(CUstream stream)
{
	CUresult r = may_wait(stream);
	bool idle;

	if (r)
		return r;
	idle = stream_is_legacy(stream) ? all_blocking_idle(stream->ctx) : queue_idle(stream);
	return stream->ctx->sticky ?: idle ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

ENTRY_TWINS(cuStreamQuery, _ptsz, USES_CONTEXT, TAKES(CUstream hStream), stream_of_call(&c, hStream) ?: query(c.stream))
/* The question ends its capture (measured). */
ENTRY_TWINS(cuStreamGetFlags, _ptsz, NEEDS_CONTEXT, TAKES(CUstream hStream, unsigned int *flags),
	    stream_of_call(&c, hStream)
		?: c.stream->capture ? capture_refuse(c.stream)
				     : ANSWER(flags, c.stream->flags & ~PER_THREAD_FLAG))
ENTRY_TWINS(cuStreamGetPriority, _ptsz, NEEDS_CONTEXT, TAKES(CUstream hStream, int *priority),
	    stream_of_call(&c, hStream) ?: ANSWER(priority, c.stream->priority))

static CUresult get_context(CUstream stream, CUcontext *out)
{
	CUresult r = out ? capture_check_legacy(stream) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	*out = stream->ctx;
	return CUDA_SUCCESS;
}

ENTRY_TWINS(cuStreamGetCtx, _ptsz, USES_CONTEXT, TAKES(CUstream hStream, CUcontext *pctx),
	    stream_of_call(&c, hStream) ?: get_context(c.stream, pctx))

static CUresult get_contexts(CUstream stream, CUcontext *out, CUgreenCtx *green)
{
	CUresult r = out && green ? capture_check_legacy(stream) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	*green = stream->ctx->green;
	*out = stream->ctx->owner ? stream->ctx->owner : stream->ctx;
	return CUDA_SUCCESS;
}

ENTRY(cuStreamGetCtx_v2, USES_CONTEXT, TAKES(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx),
      stream_of_call(&c, hStream) ?: get_contexts(c.stream, pCtx, pGreenCtx))
ENTRY(cuStreamGetGreenCtx, USES_CONTEXT, TAKES(CUstream hStream, CUgreenCtx *phCtx),
      stream_of_call(&c, hStream) ?: ANSWER(phCtx, c.stream->ctx->green))
