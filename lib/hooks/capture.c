/* Stream capture: the program's calls go out as they are; GMOD only counts how many captures are open. */
#include "lib/context/capture.h"
#include "lib/hooks/hook.h"

/* An invalidated capture ends too, with an error. */
static CUresult ended(CUresult r, const char *entry_point)
{
	bool over =
	    r == CUDA_SUCCESS || r == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || r == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;

	if (over && gmod_on())
		gmod_capture_ended();
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	return ended(NEXT(cuStreamEndCapture)(stream, graph), __func__);
}

GMOD_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
	return ended(NEXT(cuStreamEndCapture_ptsz)(stream, graph), __func__);
}
