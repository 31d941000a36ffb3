/* Questions about a capture. */
#include "sim.h"

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

struct info {
	CUstreamCaptureStatus *status;
	cuuint64_t *id;
	CUgraph *graph;
	const CUgraphNode **deps;
	const CUgraphEdgeData **edges;
	size_t *count;
};

static CUresult get_info(CUstream stream, const struct info *out)
{
	CUresult r = is_capturing(stream, out->status);

	if (r || *out->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return r;
	if (out->id)
		*out->id = stream->capture->id;
	if (out->graph)
		*out->graph = stream->capture->graph;
	if (out->deps)
		*out->deps = stream->tips;
	if (out->edges)
		*out->edges = NULL;
	if (out->count)
		*out->count = stream->tip_count;
	return CUDA_SUCCESS;
}

ENTRY_TWINS(cuStreamGetCaptureInfo_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
		  const CUgraphNode **dependencies_out, size_t *numDependencies_out),
	    get_info(stream_of(c.ctx, hStream, c.per_thread),
		     &(struct info){captureStatus_out, id_out, graph_out, dependencies_out, NULL, numDependencies_out}))
ENTRY_TWINS(
    cuStreamGetCaptureInfo_v3, _ptsz, NEEDS_CONTEXT,
    TAKES(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
	  const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out),
    get_info(stream_of(c.ctx, hStream, c.per_thread),
	     &(struct info){captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out}))
