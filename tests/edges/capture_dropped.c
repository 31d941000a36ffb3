/*
 * Captures that nobody ends, their stream is destroyed, or its context ends; or that are invalid when they are ended.
 * After that comes cuDriverGetVersion, and then a launch.
 *
 *   capture_dropped HOW      stream, context, reset, release, invalid, or joined: another stream of the capture is
 *                            destroyed
 */
#include "testkit.h"

static CUstream captured(void)
{
	CUstream stream;

	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	return stream;
}

static void destroy_joined(CUstream origin)
{
	CUstream stream;
	CUevent event;

	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	CK(cuEventRecord(event, origin));
	CK(cuStreamWaitEvent(stream, event, 0));
	CK(cuStreamDestroy(stream));
}

/* A context with two captures goes; the one before it is current. */
static void end_context(void)
{
	CUmodule module = tk_module;
	CUcontext context = tk_new_context();

	captured();
	captured();
	CK(cuCtxDestroy(context));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = module;
}

static void invalidate(void)
{
	CUstream stream;
	CUdeviceptr p;
	CUgraph graph;

	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT(cuMemAlloc(&p, 1000), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "stream";
	CUstream stream;
	CUdeviceptr p;
	int version;

	tk_start();
	if (!strcmp(how, "context"))
		end_context();
	else if (!strcmp(how, "joined"))
		destroy_joined(captured());
	else if (!strcmp(how, "invalid"))
		invalidate();
	else if (!strcmp(how, "stream"))
		CK(cuStreamDestroy(captured()));
	else
		captured();
	if (!strcmp(how, "reset"))
		CK(cuDevicePrimaryCtxReset(tk_device));
	if (!strcmp(how, "release"))
		CK(cuDevicePrimaryCtxRelease(tk_device));
	if (!strcmp(how, "reset") || !strcmp(how, "release"))
		tk_start();
	CK(cuMemAlloc(&p, 1000));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuDriverGetVersion(&version));
	tk_flip_on(stream, p, 0, 1000);
	return 0;
}
