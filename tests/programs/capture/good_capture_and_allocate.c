/*
 * Allocating and freeing in the capturing thread: fine in relaxed mode, also as the first there is, while a blocking
 * stream is captured; refused and fatal to the capture in the others.
 */
#include "testkit.h"

static void try_mode(const char *name, CUstreamCaptureMode mode, unsigned flags)
{
	CUgraph graph = NULL;
	CUstream stream;
	CUdeviceptr p = 0;
	CUresult allocated, ended;

	CK(cuStreamCreate(&stream, flags));
	CK(cuStreamBeginCapture(stream, mode));
	allocated = cuMemAlloc(&p, 1000);
	ended = cuStreamEndCapture(stream, &graph);
	printf("%s: %s, %s\n", name, tk_error_name(allocated), tk_error_name(ended));
	if (graph)
		CK(cuGraphDestroy(graph));
	if (allocated == CUDA_SUCCESS)
		CK(cuMemFree(p));
	CK(cuStreamDestroy(stream));
}

int main(void)
{
	CUcontext other;
	CUdeviceptr p;

	tk_start();
	try_mode("relaxed, of a blocking stream", CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_DEFAULT);
	try_mode("relaxed", CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING);
	try_mode("thread-local", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_NON_BLOCKING);
	try_mode("global", CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);
	other = tk_new_context();
	try_mode("relaxed, of a blocking stream of another context", CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_DEFAULT);
	CK(cuCtxDestroy(other));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = tk_load_kernels();
	CK(cuMemAlloc(&p, 1000));
	tk_flip(p, 0, 1000);
	CK(cuMemFree(p));
	puts("and afterwards all is well");
}
