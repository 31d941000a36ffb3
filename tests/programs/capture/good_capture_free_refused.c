// options: backend=unified
/*
 * A free of a large buffer in a thread that captures is refused, and ends the capture: the buffer is as it was, and may
 * be freed afterwards.
 */
#include "make_buffer.h"

enum { SIZE = 3 << 20 };

int main(void)
{
	CUdeviceptr p = make_buffer(SIZE);
	CUstream stream = tk_stream();
	CUgraph graph = NULL;

	tk_kernel("k_flip");
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	printf("free: %s\n", tk_error_name(cuMemFree(p)));
	printf("the capture: %s\n", tk_error_name(cuStreamEndCapture(stream, &graph)));
	tk_flip(p, 0, SIZE);
	tk_sync();
	printf("afterwards: %s\n", tk_error_name(cuMemFree(p)));
}
