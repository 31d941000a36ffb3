/* A stream that captures refuses to free in its order what cuMemAlloc gave; what becomes of the capture is the
 * driver's. */
#include "testkit.h"

int main(void)
{
	CUgraph graph;
	CUdeviceptr p = tk_alloc(3000);
	CUstream stream = tk_stream();

	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
	printf("the capture: %s\n", tk_error_name(cuStreamEndCapture(stream, &graph)));
	CK(cuMemFree(p));
}
