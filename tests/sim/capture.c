/*
 * Stream capture: which calls it forbids, how streams join it, how it ends.
 *
 * A capture is begun on one stream and spreads to those that wait for an event recorded in it. It is lost
 * ("invalid") when a forbidden call is made, and stays where it is until it is ended or its origin destroyed.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static struct capture *captures;
static __thread CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/* What cuThreadExchangeStreamCaptureMode documents about "potentially unsafe" calls. */
static bool forbids(const struct capture *capture)
{
	if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return false;
	if (capture->thread == thread_number())
		return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
	return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_check_unsafe(void)
{
	CUresult r = CUDA_SUCCESS;

	for (struct capture *c = captures; c; c = c->next)
		if (forbids(c)) {
			c->invalid = true;
			r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		}
	return r;
}

/* Would work on this stream, being the legacy one, have to wait for a blocking stream that captures? */
static bool capture_blocks_legacy(CUstream stream)
{
	if (!stream_is_legacy(stream))
		return false;
	for (CUstream s = stream->ctx->streams; s; s = s->next)
		if (s->capture && !(s->flags & CU_STREAM_NON_BLOCKING))
			return true;
	return false;
}

CUresult capture_check_legacy(CUstream stream)
{
	if (!capture_blocks_legacy(stream))
		return CUDA_SUCCESS;
	for (CUstream s = stream->ctx->streams; s; s = s->next)
		if (s->capture && !(s->flags & CU_STREAM_NON_BLOCKING))
			s->capture->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

bool capture_in_context(CUcontext ctx)
{
	for (struct capture *c = captures; c; c = c->next)
		if (c->origin->ctx == ctx)
			return true;
	return false;
}

void capture_invalidate_context(CUcontext ctx)
{
	for (struct capture *c = captures; c; c = c->next)
		if (c->origin->ctx == ctx)
			c->invalid = true;
}

static struct capture *by_id(unsigned long long id)
{
	struct capture *c = captures;

	while (c && c->id != id)
		c = c->next;
	return c;
}

/* Asking or waiting for an event that was last recorded in a capture. */
CUresult capture_refuse_event(CUevent event)
{
	struct capture *capture = by_id(event->capture_id);

	if (!capture)
		return CUDA_ERROR_INVALID_VALUE; /* it has ended */
	capture->invalid = true;
	return CUDA_ERROR_CAPTURED_EVENT;
}

/* Waiting for or asking a capturing stream. */
CUresult capture_refuse(CUstream stream)
{
	stream->capture->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static void set_tips(CUstream stream, const CUgraphNode *nodes, size_t count)
{
	CUgraphNode *copy = calloc(count ? count : 1, sizeof(*copy));

	if (count)
		memcpy(copy, nodes, count * sizeof(*copy));
	free(stream->tips);
	stream->tips = copy;
	stream->tip_count = count;
}

static void add_tip(CUstream stream, CUgraphNode node)
{
	for (size_t i = 0; i < stream->tip_count; i++)
		if (stream->tips[i] == node)
			return;
	stream->tips = realloc(stream->tips, (stream->tip_count + 1) * sizeof(*stream->tips));
	stream->tips[stream->tip_count++] = node;
}

static CUgraphNodeType type_of(const struct work *work)
{
	static const CUgraphNodeType types[] = {
	    [WORK_NONE] = CU_GRAPH_NODE_TYPE_EMPTY,          [WORK_KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL,
	    [WORK_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,         [WORK_SET] = CU_GRAPH_NODE_TYPE_MEMSET,
	    [WORK_HOST] = CU_GRAPH_NODE_TYPE_HOST,           [WORK_GRAPH] = CU_GRAPH_NODE_TYPE_GRAPH,
	    [WORK_ALLOC] = CU_GRAPH_NODE_TYPE_MEM_ALLOC,     [WORK_FREE] = CU_GRAPH_NODE_TYPE_MEM_FREE,
	    [WORK_MEMOPS] = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
	};

	return types[work->kind];
}

/* Takes over the work. */
CUresult capture_append(CUstream stream, struct work *work, CUgraphNode *out)
{
	CUgraphNode node;

	if (stream->capture->invalid) {
		work_clear(work);
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	node = graph_add(stream->capture->graph, type_of(work), work, stream->tips, stream->tip_count);
	set_tips(stream, &node, 1);
	if (out)
		*out = node;
	return CUDA_SUCCESS;
}

CUresult capture_record(CUstream stream, CUevent event)
{
	if (stream->capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	op_drop(event->op);
	event->op = NULL;
	free(event->nodes);
	event->nodes = calloc(stream->tip_count + 1, sizeof(*event->nodes));
	event->node_count = stream->tip_count;
	if (stream->tip_count)
		memcpy(event->nodes, stream->tips, stream->tip_count * sizeof(*event->nodes));
	event->capture_id = stream->capture->id;
	return CUDA_SUCCESS;
}

/* An event recorded before the capture is work the graph could not wait for. */
static CUresult wait_uncaptured(CUstream stream, CUevent event)
{
	if (!event->op)
		return CUDA_SUCCESS;
	stream->capture->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

CUresult capture_wait(CUstream stream, CUevent event)
{
	struct capture *capture = by_id(event->capture_id);

	if (!event->capture_id)
		return wait_uncaptured(stream, event);
	if (!capture)
		return CUDA_ERROR_INVALID_VALUE; /* it has ended */
	if (stream->capture && stream->capture != capture) {
		stream->capture->invalid = capture->invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_MERGE;
	}
	if (capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (stream_is_legacy(stream)) {
		capture->invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	if (!stream->capture)
		set_tips(stream, NULL, 0);
	stream->capture = capture;
	for (size_t i = 0; i < event->node_count; i++)
		add_tip(stream, event->nodes[i]);
	return CUDA_SUCCESS;
}

/* Beginning. */

/* graph: the program's, or NULL for a new one. */
static CUresult begin_in(CUstream stream, CUgraph graph, const CUgraphNode *after, size_t count,
			 CUstreamCaptureMode mode)
{
	struct capture *capture;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream_is_legacy(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	capture = calloc(1, sizeof(*capture));
	capture->id = ++sim.last_id;
	capture->graph = graph ? graph : graph_new();
	capture->borrowed = graph != NULL;
	capture->origin = stream;
	capture->mode = mode;
	capture->thread = thread_number();
	capture->next = captures;
	captures = capture;
	stream->capture = capture;
	set_tips(stream, after, count);
	return CUDA_SUCCESS;
}

static CUresult begin(CUstream stream, CUstreamCaptureMode mode)
{
	return begin_in(stream, NULL, NULL, 0, mode);
}

ENTRY_TWINS(cuStreamBeginCapture, _ptsz, NEEDS_CONTEXT, TAKES(CUstream hStream),
	    begin(stream_of(c.ctx, hStream, c.per_thread), CU_STREAM_CAPTURE_MODE_GLOBAL))
ENTRY_TWINS(cuStreamBeginCapture_v2, _ptsz, NEEDS_CONTEXT, TAKES(CUstream hStream, CUstreamCaptureMode mode),
	    begin(stream_of(c.ctx, hStream, c.per_thread), mode))

ENTRY_TWINS(cuStreamBeginCaptureToGraph, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
		  const CUgraphEdgeData *dependencyData, size_t numDependencies, CUstreamCaptureMode mode),
	    refuse_if(!nodes_are_of(hGraph, dependencies, numDependencies), CUDA_ERROR_INVALID_VALUE)
		?: begin_in(stream_of(c.ctx, hStream, c.per_thread), hGraph, dependencies, numDependencies, mode))

/* As if into a graph of its own: what a recapture compares is not simulated. */
ENTRY_TWINS(cuStreamBeginRecaptureToGraph, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream hStream, CUstreamCaptureMode mode, CUgraph hGraph, CUgraphRecaptureCallback callbackFunc,
		  void *userData),
	    hGraph && (callbackFunc || !userData) ? begin(stream_of(c.ctx, hStream, c.per_thread), mode)
						  : CUDA_ERROR_INVALID_VALUE)

/* Ending. */

static void leave_capture(CUstream stream)
{
	stream->capture = NULL;
	free(stream->tips);
	stream->tips = NULL;
	stream->tip_count = 0;
}

/* No stream is in the capture any more. The graph is the caller's. */
static void capture_free(struct capture *capture)
{
	for (CUcontext ctx = sim.contexts; ctx; ctx = ctx->next)
		for (CUstream s = ctx->streams; s; s = s->next)
			if (s->capture == capture)
				leave_capture(s);
	UNLINK(captures, capture);
	free(capture);
}

static void drop_graph(struct capture *capture)
{
	if (!capture->borrowed)
		graph_free(capture->graph);
}

void capture_drop_stream(CUstream stream)
{
	struct capture *capture = stream->capture;

	if (!capture)
		return;
	if (capture->origin != stream) {
		capture->invalid = true;
		leave_capture(stream);
		return;
	}
	drop_graph(capture);
	capture_free(capture);
}

static bool has_dependents(const struct capture *capture, CUgraphNode node)
{
	CUgraph graph = capture->graph;

	for (size_t i = 0; i < graph->count; i++)
		for (size_t d = 0; d < graph->nodes[i]->dep_count; d++)
			if (graph->nodes[i]->deps[d] == node)
				return true;
	return false;
}

/* Everything captured leads to what the origin ends with. */
static bool joined(const struct capture *capture)
{
	for (size_t i = 0; i < capture->graph->count; i++) {
		CUgraphNode node = capture->graph->nodes[i];
		bool is_tip = false;

		for (size_t t = 0; t < capture->origin->tip_count; t++)
			is_tip |= capture->origin->tips[t] == node;
		if (!is_tip && !has_dependents(capture, node))
			return false;
	}
	return true;
}

static CUresult why_lost(const struct capture *capture)
{
	if (capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	return joined(capture) ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

static CUresult finish(CUstream stream, CUgraph *out)
{
	struct capture *capture = stream ? stream->capture : NULL;
	CUresult r;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != thread_number())
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	if (capture->origin != stream) {
		capture->invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	}
	r = why_lost(capture);
	*out = r ? NULL : capture->graph;
	if (r)
		drop_graph(capture);
	capture_free(capture);
	return r;
}

ENTRY_TWINS(cuStreamEndCapture, _ptsz, NEEDS_CONTEXT, TAKES(CUstream hStream, CUgraph *phGraph),
	    finish(stream_of(c.ctx, hStream, c.per_thread), phGraph))

static CUstreamCaptureStatus status_of(CUstream stream)
{
	if (!stream->capture)
		return CU_STREAM_CAPTURE_STATUS_NONE;
	return stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	if (capture_blocks_legacy(stream)) /* and the capture goes on */
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	*status = status_of(stream);
	return CUDA_SUCCESS;
}

ENTRY_TWINS(cuStreamIsCapturing, _ptsz, NEEDS_CONTEXT, TAKES(CUstream hStream, CUstreamCaptureStatus *captureStatus),
	    is_capturing(stream_of(c.ctx, hStream, c.per_thread), captureStatus))

static CUresult get_info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
			 const CUgraphNode **tips, size_t *tip_count)
{
	CUresult r = is_capturing(stream, status);

	if (r || *status == CU_STREAM_CAPTURE_STATUS_NONE)
		return r;
	if (id)
		*id = stream->capture->id;
	if (graph)
		*graph = stream->capture->graph;
	if (tips)
		*tips = stream->tips;
	if (tip_count)
		*tip_count = stream->tip_count;
	return CUDA_SUCCESS;
}

ENTRY_TWINS(cuStreamGetCaptureInfo, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream hStream, CUstreamCaptureStatus *status, cuuint64_t *id),
	    get_info(stream_of(c.ctx, hStream, c.per_thread), status, id, NULL, NULL, NULL))
ENTRY_TWINS(cuStreamGetCaptureInfo_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream hStream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
		  const CUgraphNode **tips, size_t *count),
	    get_info(stream_of(c.ctx, hStream, c.per_thread), status, id, graph, tips, count))

static CUresult exchange_mode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode before = thread_mode;

	if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	thread_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

ENTRY(cuThreadExchangeStreamCaptureMode, NEEDS_INIT, TAKES(CUstreamCaptureMode *mode), exchange_mode(mode))
