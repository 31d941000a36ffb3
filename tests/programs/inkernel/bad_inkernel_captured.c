// expect: 2 x heap-buffer-overflow size 333 offset +2
// suspect: d_flip
/* The first launches of the module are captured, and run as a graph twice. */
#include "inkernel.h"

int main(void)
{
	long long count = 64, size = 333, step = 0, index = 63, off = 335, one = 1;
	CUgraph graph;
	CUdeviceptr p = ik_array(count);
	CUstream stream = tk_stream();

	ik_kernel("d_alloc");
	ik_kernel("d_flip");
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	tk_launch_n(ik_kernel("d_alloc"), count, stream, TK_ARGS(&p, &count, &size, &step));
	tk_launch_n(ik_kernel("d_flip"), 1, stream, TK_ARGS(&p, &index, &off, &one));
	CK(cuStreamEndCapture(stream, &graph));
	tk_run_graph(graph, stream, 2);
	CK(cuStreamDestroy(stream));
	CK(cuMemFree(p));
}
