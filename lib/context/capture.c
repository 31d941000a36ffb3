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

/* Of more at a time launches are taken for such that run. */
enum { CAPTURES = 256 };

static struct {
	_Atomic uint64_t stream, context; /* stream 0: free */
} captures[CAPTURES];

void gmod_capture_began(uint64_t stream, uint64_t context)
{
	for (unsigned i = 0; i < CAPTURES; i++) {
		uint64_t none = 0;

		if (!atomic_compare_exchange_strong_explicit(&captures[i].stream, &none, stream, memory_order_relaxed,
							     memory_order_relaxed))
			continue;
		atomic_store_explicit(&captures[i].context, context, memory_order_relaxed);
		atomic_fetch_add_explicit(&gmod_hot.captures, 1, memory_order_relaxed);
		return;
	}
}

static bool is_over(unsigned i, uint64_t stream, uint64_t context)
{
	return (stream && atomic_load_explicit(&captures[i].stream, memory_order_relaxed) == stream) ||
	       (context && atomic_load_explicit(&captures[i].context, memory_order_relaxed) == context);
}

void gmod_captures_over(uint64_t stream, uint64_t context)
{
	for (unsigned i = 0; i < CAPTURES; i++)
		if (is_over(i, stream, context) &&
		    atomic_exchange_explicit(&captures[i].stream, 0, memory_order_relaxed))
			atomic_fetch_sub_explicit(&gmod_hot.captures, 1, memory_order_relaxed);
}
