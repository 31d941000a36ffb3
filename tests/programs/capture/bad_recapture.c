// expect: heap-buffer-overflow size 4000 offset +0 in make_buffer
// suspect: k_flip x1
/* CUDA 13.3: what a capture into a graph that is there already takes up has not run, and is no suspect. */
#include "make_buffer.h"
#include <dlfcn.h>

int main(void)
{
	CUresult (*recapture)(CUstream, CUstreamCaptureMode, CUgraph, void *, void *);
	CUdeviceptr p = make_buffer(4000);
	CUstream stream = tk_stream();
	CUgraph graph;

	*(void **)&recapture = dlsym(RTLD_DEFAULT, "cuStreamBeginRecaptureToGraph");
	if (!recapture) {
		fprintf(stderr, "skipped: the driver is older than CUDA 13.3\n");
		return 77;
	}
	tk_kernel("k_flip");
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	tk_flip_on(stream, p, 0, 1);
	CK(cuStreamEndCapture(stream, &graph));
	CK(recapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED, graph, NULL, NULL));
	tk_flip_on(stream, p, 0, 1);
	CK(cuStreamEndCapture(stream, &graph));
	tk_flip(p, 4000, 1);
	tk_sync();
	CK(cuMemFree(p));
}
