// expect: heap-buffer-overflow size 2000 offset +0 in make_buffer
// suspect: k_flip
/* The kernel runs in a graph that was captured from a stream. */
#include "make_buffer.h"

int main(void)
{
	CUgraphExec exec;
	CUgraph graph;
	CUstream stream;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(2000);
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	tk_kernel("k_flip");
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	tk_flip_on(stream, p, 2000, 12);
	CK(cuStreamEndCapture(stream, &graph));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, stream));
	CK(cuStreamSynchronize(stream));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	CK(cuMemFree(p));
	return 0;
}
