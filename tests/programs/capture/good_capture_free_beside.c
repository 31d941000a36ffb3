/* A buffer is freed in relaxed mode while its thread captures: the capture survives. */
#include "testkit.h"

int main(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUgraph graph;
	CUdeviceptr p = tk_alloc(3000);
	CUdeviceptr q = tk_alloc(3000);
	CUstream stream = tk_stream();

	tk_kernel("k_flip");
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	tk_flip_on(stream, p, 0, 3000);
	CK(cuThreadExchangeStreamCaptureMode(&mode));
	CK(cuMemFree(q));
	CK(cuMemAlloc(&q, 5000));
	CK(cuThreadExchangeStreamCaptureMode(&mode));
	tk_flip_on(stream, p, 0, 3000);
	CK(cuStreamEndCapture(stream, &graph));
	tk_run_graph(graph, stream, 1);
	CK(cuMemFree(p));
	CK(cuMemFree(q));
	puts("captured");
}
