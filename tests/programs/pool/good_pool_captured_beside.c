// case: good_pool_captured_beside 0
// case: bad_pool_captured_beside 1 => heap-buffer-overflow size 1001 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* While a stream captures, cuMemFree gives back a buffer of it that nobody uses: at once, and without becoming a node
 * of the graph. What the pool says of it waits for the kernel before (measured). */
#include "pooled.h"

int main(void)
{
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
	CUstream stream = tk_stream();
	volatile int *go_on = hold(stream);
	CUdeviceptr p = make_from(pool, SIZE, stream);
	size_t nodes = 1;
	CUgraph graph;

	/* What GMOD puts in front of the next kernel has yet to run when the memory is gone. */
	tk_spin(stream, 0);
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	CK(cuMemFree(p));
	CK(cuStreamEndCapture(stream, &graph));
	CK(cuGraphGetNodes(graph, NULL, &nodes));
	REQUIRE(nodes == 0);
	CK(cuGraphDestroy(graph));
	CK(cuMemPoolTrimTo(pool, 0));
	*go_on = 1;
	tk_sync();
	use_once(SIZE + 1, stream, CASE);
	CK(cuStreamSynchronize(stream));
	CK(cuMemPoolDestroy(pool));
	puts("done");
}
