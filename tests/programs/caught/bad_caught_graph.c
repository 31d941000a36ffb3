// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// says: heap-buffer-overflow: caught: graph 0x
// options: log_path=report.log:backend=device
/* A graph of three kernels is launched over and over: its launch is caught as one. */
#include "steps.h"

static CUgraphExec make_steps(CUstream stream, CUdeviceptr p, int overruns)
{
	CUgraphExec exec;
	CUgraph graph;

	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	step_on(stream, p, overruns, STEP_SIZE);
	CK(cuStreamEndCapture(stream, &graph));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphDestroy(graph));
	return exec;
}

int main(void)
{
	CUdeviceptr p = make_buffer(STEP_SIZE);
	CUstream stream = tk_stream();
	CUgraphExec harmless, harmful;
	int caught = 0;

	tk_kernel("k_fill"), tk_kernel("k_flip"), tk_kernel("k_stride");
	harmless = make_steps(stream, p, 0);
	harmful = make_steps(stream, p, 1);
	for (int i = 0; i < STEPS && !caught; i++) {
		CK(cuGraphLaunch(harmless, stream));
		CK(cuGraphLaunch(i % 5 ? harmless : harmful, stream));
		CK(cuStreamSynchronize(stream));
		usleep(1000);
		caught = i % 20 == 0 && is_said("caught]");
	}
	REQUIRE(caught);
	CK(cuMemFree(p));
}
