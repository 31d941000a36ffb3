// case: good_pool_captured 0
// case: bad_pool_captured 1 => heap-buffer-overflow size 1001 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/* In a capture an allocation is a node of the graph, which is left alone; beside it memory of the pool goes on. */
#include "pooled.h"

/* It is there from the graph's launch on, not before. */
static void allocated_by_graph(CUstream stream)
{
	CUgraph graph;
	CUdeviceptr p;

	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	p = make_pooled(SIZE, stream);
	CK(cuStreamEndCapture(stream, &graph));
	tk_spin(stream, 0);
	CK(cuStreamSynchronize(stream));
	tk_run_graph(graph, stream, 1);
	flip_end(p, SIZE, stream, 0);
	CK(cuMemFreeAsync(p, stream));
}

int main(void)
{
	CUstream stream = tk_stream(), other = tk_stream();
	CUgraph graph;

	tk_kernel("k_flip");
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	use_once(SIZE, stream, CASE);
	CK(cuStreamEndCapture(stream, &graph));
	tk_run_graph(graph, stream, 3);
	allocated_by_graph(stream);
	use_once(SIZE + 1, stream, CASE);
	use_once(SIZE, other, 0);
	tk_sync();
	puts("done");
}
