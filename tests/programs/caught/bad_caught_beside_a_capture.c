// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// says: heap-buffer-overflow: caught: k_fill
// options: log_path=report.log:backend=device
/* Captures begin and end in another stream while suspects are looked at: no look ends them, or goes into them. */
#include "steps.h"

static void capture_one(CUstream stream, CUdeviceptr p, CUstream running)
{
	CUgraph graph;
	size_t nodes = 0;

	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	step_on(stream, p, 0, STEP_SIZE);
	for (int i = 0; i < 4; i++)
		step_on(running, p, i == 2, STEP_SIZE);
	CK(cuStreamEndCapture(stream, &graph));
	CK(cuGraphGetNodes(graph, NULL, &nodes));
	REQUIRE(nodes == 3);
	CK(cuGraphDestroy(graph));
}

int main(void)
{
	CUdeviceptr p = make_buffer(STEP_SIZE);
	CUstream captured = tk_stream(), running = tk_stream();
	int caught = 0;

	tk_kernel("k_fill");
	tk_kernel("k_flip");
	tk_kernel("k_stride");
	for (int i = 0; i < STEPS && !caught; i++) {
		capture_one(captured, p, running);
		CK(cuStreamSynchronize(running));
		usleep(1000);
		caught = i % 20 == 0 && is_said("caught]");
	}
	REQUIRE(caught);
	CK(cuMemFree(p));
}
