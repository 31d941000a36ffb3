/* A buffer is freed in relaxed mode while its thread captures: the capture survives. */
#include "testkit.h"

int main(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUgraph graph;
	CUstream stream;
	CUdeviceptr p, q;

	tk_start();
	tk_kernel("k_flip");
	CK(cuMemAlloc(&p, 3000));
	CK(cuMemAlloc(&q, 3000));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
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
	return 0;
}
