// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// options: log_path=report.log
/*
 * A graph is updated so often, with nothing new in it, that not each update is looked at. The kernel comes in with one
 * that is not, and the report says that there may be others than the named one.
 */
#include "make_buffer.h"
#include "report_log.h"

#if CUDA_VERSION < 12000
int main(void)
{
	tk_skip("no cuGraphExecUpdate_v2 in this toolkit");
}
#else
enum { QUIET = 40000 };

static long long inside, end = 3000, count = 4;
static int value = 1;

static CUgraph graph_of(const char *kernel, void **args)
{
	CUDA_KERNEL_NODE_PARAMS node = {.func = tk_kernel(kernel),
					.gridDimX = 1,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 4,
					.blockDimY = 1,
					.blockDimZ = 1,
					.kernelParams = args};
	CUgraphNode added;
	CUgraph graph;

	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddKernelNode(&added, graph, NULL, 0, &node));
	return graph;
}

int main(void)
{
	CUgraphExecUpdateResultInfo info;
	CUgraph harmless, flip;
	CUgraphExec exec;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(3000);
	harmless = graph_of("k_fill", TK_ARGS(&p, &inside, &count, &value));
	flip = graph_of("k_flip", TK_ARGS(&p, &end, &count));
	CK(cuGraphInstantiate(&exec, harmless, 0));
	for (int i = 0; i < QUIET; i++)
		CK(cuGraphExecUpdate(exec, harmless, &info));
	CK(cuGraphExecUpdate(exec, flip, &info));
	CK(cuGraphLaunch(exec, NULL));
	tk_sync();
	CK(cuMemFree(p));
	REQUIRE(wait_for_report("unknown x1 on the default stream in graph", 1000));
	REQUIRE(!wait_for_report("--kernel-name", 1));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(harmless));
	CK(cuGraphDestroy(flip));
	return 0;
}
#endif
