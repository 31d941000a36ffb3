#include "lib/context/capture.h"

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
	gmod_succeeded(NEXT(cuStreamIsCapturing)(stream, &status), "cuStreamIsCapturing");
	/* Nothing can be put into one whose capture has become invalid, either. */
	return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool gmod_stream_is_idle(CUstream stream)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	CUresult r = NEXT(cuStreamQuery)(stream);

	gmod_relaxed_end(mode);
	return r == CUDA_SUCCESS;
}

void gmod_capture_began(void)
{
	atomic_fetch_add_explicit(&gmod_hot.captures, 1, memory_order_relaxed);
}

void gmod_capture_ended(void)
{
	int open = atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed);

	while (open > 0 && !atomic_compare_exchange_weak_explicit(&gmod_hot.captures, &open, open - 1,
								  memory_order_relaxed, memory_order_relaxed))
		;
}
