/*
 * A capture that ends with an error, or one whose stream is destroyed, so that nobody ends it. After that comes
 * cuDriverGetVersion, and then a launch.
 *
 *   capture_dropped HOW      invalid or stream
 */
#include "testkit.h"

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

static void drop(void)
{
	CUstream stream;

	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	CK(cuStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	CUstream stream;
	CUdeviceptr p;
	int version;

	tk_start();
	if (argc > 1 && !strcmp(argv[1], "invalid"))
		invalidate();
	else
		drop();
	CK(cuMemAlloc(&p, 1000));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuDriverGetVersion(&version));
	tk_flip_on(stream, p, 0, 1000);
	return 0;
}
