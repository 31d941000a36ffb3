// case: good_pool_free_refused_global CU_STREAM_CAPTURE_MODE_GLOBAL
// case: good_pool_free_refused_local CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
// options: max_overhead=100
/* Beside a capture that forbids it cuMemFree is refused, and the buffer is the program's still. */
#include "pooled.h"

int main(void)
{
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
	CUstream stream = tk_stream();
	volatile int *go_on = hold(stream);
	CUdeviceptr p = make_from(pool, SIZE, stream);
	CUgraph graph;

	tk_spin(stream, 0);
	CK(cuStreamBeginCapture(stream, CASE));
	printf("free: %d\n", cuMemFree(p));
	printf("end of the capture: %d\n", cuStreamEndCapture(stream, &graph));
	*go_on = 1;
	tk_sync();
	printf("free: %d\n", cuMemFree(p));
	CK(cuMemPoolDestroy(pool));
}
