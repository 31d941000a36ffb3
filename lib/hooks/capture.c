/* Stream capture: the program's calls go out as they are; GMOD only counts how many captures are open. */
#include <stdatomic.h>

#include "lib/hooks/hook.h"

static CUresult began(CUresult r, const char *entry_point)
{
	if (r == CUDA_SUCCESS)
		atomic_fetch_add_explicit(&gmod_hot.captures, 1, memory_order_relaxed);
	return gmod_done(r, entry_point);
}

/* An invalidated capture ends too, with an error. */
static CUresult ended(CUresult r, const char *entry_point)
{
	int open = atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed);
	bool over =
	    r == CUDA_SUCCESS || r == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || r == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;

	while (over && open > 0 &&
	       !atomic_compare_exchange_weak_explicit(&gmod_hot.captures, &open, open - 1, memory_order_relaxed,
						      memory_order_relaxed))
		;
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

GMOD_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	return ended(NEXT(cuStreamEndCapture)(stream, graph), __func__);
}

GMOD_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
	return ended(NEXT(cuStreamEndCapture_ptsz)(stream, graph), __func__);
}

GMOD_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	return gmod_done(NEXT(cuThreadExchangeStreamCaptureMode)(mode), __func__);
}
