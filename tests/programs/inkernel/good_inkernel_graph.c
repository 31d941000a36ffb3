/* A graph that allocates, uses and frees, captured once and launched many times. */
#include "inkernel.h"

static CUgraph capture(CUstream stream, CUdeviceptr p, CUdeviceptr bad)
{
	long long count = 300, size = 50, step = 3, off = 0;
	CUgraph graph;

	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	tk_launch_n(ik_kernel("d_alloc"), count, stream, TK_ARGS(&p, &count, &size, &step));
	tk_launch_n(ik_kernel("d_fill"), count, stream, TK_ARGS(&p, &count, &size));
	tk_launch_n(ik_kernel("d_check"), count, stream, TK_ARGS(&p, &count, &size, &bad));
	tk_launch_n(ik_kernel("d_free"), count, stream, TK_ARGS(&p, &count, &off));
	CK(cuStreamEndCapture(stream, &graph));
	return graph;
}

int main(void)
{
	static const char *kernels[] = {"d_alloc", "d_fill", "d_check", "d_free"};
	CUstream stream;
	CUdeviceptr bad = ik_counter();
	CUdeviceptr p = tk_alloc(300 * sizeof(void *));

	for (int i = 0; i < 4; i++)
		ik_kernel(kernels[i]);
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	tk_run_graph(capture(stream, p, bad), stream, 200);
	printf("bytes gone: %d\n", ik_count(bad));
}
