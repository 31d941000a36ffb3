/* Stream capture: the program's calls go out as they are; GMOD only counts how many captures are open. */
#include "lib/context/capture.h"
#include "lib/hooks/hook.h"

static CUresult began(CUresult r, const char *entry_point)
{
	gmod_ordered_passed();
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_capture_began();
	return gmod_done(r, entry_point);
}

/* An invalidated capture ends too, with an error. */
static CUresult ended(CUresult r, const char *entry_point)
{
	bool over =
	    r == CUDA_SUCCESS || r == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || r == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;

	if (over && gmod_on())
		gmod_capture_ended();
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuStreamBeginCapture(CUstream stream)
{
	return began(NEXT(cuStreamBeginCapture)(stream), __func__);
}

GMOD_EXPORT CUresult cuStreamBeginCapture_ptsz(CUstream stream)
{
	return began(NEXT(cuStreamBeginCapture_ptsz)(stream), __func__);
}

GMOD_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	return began(NEXT(cuStreamBeginCapture_v2)(stream, mode), __func__);
}

GMOD_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode)
{
	return began(NEXT(cuStreamBeginCapture_v2_ptsz)(stream, mode), __func__);
}

GMOD_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
						 const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode)
{
	return began(NEXT(cuStreamBeginCaptureToGraph)(stream, graph, nodes, edges, count, mode), __func__);
}

GMOD_EXPORT CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
						      const CUgraphEdgeData *edges, size_t count,
						      CUstreamCaptureMode mode)
{
	return began(NEXT(cuStreamBeginCaptureToGraph_ptsz)(stream, graph, nodes, edges, count, mode), __func__);
}

GMOD_EXPORT CUresult cuStreamBeginRecaptureToGraph(CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
						   CUgraphRecaptureCallback callback, void *data)
{
	return began(NEXT(cuStreamBeginRecaptureToGraph)(stream, mode, graph, callback, data), __func__);
}

GMOD_EXPORT CUresult cuStreamBeginRecaptureToGraph_ptsz(CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
							CUgraphRecaptureCallback callback, void *data)
{
	return began(NEXT(cuStreamBeginRecaptureToGraph_ptsz)(stream, mode, graph, callback, data), __func__);
}

GMOD_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	return ended(NEXT(cuStreamEndCapture)(stream, graph), __func__);
}

GMOD_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
	return ended(NEXT(cuStreamEndCapture_ptsz)(stream, graph), __func__);
}
