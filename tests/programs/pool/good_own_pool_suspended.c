// options: max_overhead=100
// under managed: skip-on: sim
// ledger: looks at ranges arrive in pinned memory, as those in stream order do
// sim-env: SIM_STALL=cuMemcpyDtoHAsync_v2:1:300
/* A look at a range is on its way when the program suspends GMOD. The range is given back in a capture at once: nobody
 * waits until GMOD goes on. */
#include "own_pool.h"

#pragma weak gmod_suspend
#pragma weak gmod_continue

int main(void)
{
	CUstream stream = tk_stream();
	CUdeviceptr p;
	CUgraph graph;
	double began;

	open_own_pool();
	p = make_range(1000, stream, "suspended");
	tk_flip_on(stream, p, 0, 1000);
	CK(cuStreamSynchronize(stream));
	tk_sleep_ms(150); /* GMOD is about to look at it by now */
	REQUIRE(!gmod_suspend || gmod_suspend() == GMOD_OK);
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	began = tk_ms();
	REQUIRE(unguard_range(p, stream) == GMOD_OK);
	REQUIRE(tk_ms() - began < 1000);
	CK(cuStreamEndCapture(stream, &graph));
	CK(cuGraphDestroy(graph));
	REQUIRE(!gmod_continue || gmod_continue() == GMOD_OK);
	CK(cuMemFree(own_pool.memory));
	puts("done");
}
