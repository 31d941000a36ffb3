// guarded: no
// case: good_capture_first CU_STREAM_CAPTURE_MODE_GLOBAL
// case: good_capture_first_in_a_thread CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
// case: good_capture_first_of_all CU_STREAM_CAPTURE_MODE_GLOBAL => options: max_overhead=100:scan_interval_us=0
// case: good_capture_first_exact CU_STREAM_CAPTURE_MODE_GLOBAL =>
//    options: backend=fence:faults=exact; ledger: the addresses stay reserved, and blocks rest
// case: good_capture_first_unmapped CU_STREAM_CAPTURE_MODE_GLOBAL =>
//    options: backend=fence:faults=exact:fence_uaf=1:fence_mb=8; ledger: the addresses stay reserved, and blocks rest
// case: good_capture_first_journal CU_STREAM_CAPTURE_MODE_GLOBAL => options: journal=.
// case: good_capture_first_native CU_STREAM_CAPTURE_MODE_GLOBAL => options: backend=native
/*
 * What a program does for the first time it does in a capture, as libraries do that get ready when they are used first
 * (cuBLAS): an allocation in stream order, a copy, a fill, launches, an event, a second stream, a host function, a
 * free. There is nothing before it but the stream. GMOD may ask the driver about none of it in a way that a capture
 * forbids.
 */
#include "../pool/pooled.h"

static void count(void *calls)
{
	++*(int *)calls;
}

int main(void)
{
	CUstream s = tk_stream(), second;
	unsigned char bytes[SIZE], back[SIZE];
	CUdeviceptr p;
	int calls = 0;
	CUgraph graph;

	memset(bytes, 7, SIZE);
	CK(cuStreamBeginCapture(s, CASE));
	CK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	p = make_pooled(SIZE, s);
	CK(cuMemcpyHtoDAsync(p, bytes, SIZE, s));
	CK(cuMemsetD8Async(p, 1, SIZE / 2, s));
	order(s, second);
	tk_flip_on(second, p, 0, SIZE);
	order(second, s);
	CK(cuLaunchHostFunc(s, count, &calls));
	CK(cuMemcpyDtoHAsync(back, p, SIZE, s));
	CK(cuMemFreeAsync(p, s));
	CK(cuStreamEndCapture(s, &graph));
	tk_run_graph(graph, s, 2);
	printf("%d calls, %d %d\n", calls, back[0], back[SIZE - 1]);
	use_once(SIZE, s, 0);
	CK(cuStreamSynchronize(s));
	CK(cuStreamDestroy(second));
}
