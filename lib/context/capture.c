#include "lib/context/capture.h"

#include "lib/base/facts.h"

/*
 * Asking whether a stream captures is harmless to the capture (unlike querying the stream). The legacy stream cannot
 * capture, and asking about it beside a capture is an error.
 */
bool gmod_stream_captures(CUstream stream, enum gmod_flavour flavour)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	if (stream == CU_STREAM_LEGACY || (!stream && flavour == GMOD_LEGACY))
		return false;
	if (!stream)
		stream = CU_STREAM_PER_THREAD;
	if (NEXT(cuStreamIsCapturing)(stream, &status) != CUDA_SUCCESS)
		gmod_degraded("cuStreamIsCapturing");
	return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}
