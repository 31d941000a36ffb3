// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// options: log_path=report.log
/*
 * A graph is updated so often, with nothing new in it, that not each update is looked at. The kernel comes in with one
 * that is not, and the report says that there may be others than the named one.
 */
#include "kernel_node.h"
#include "make_buffer.h"
#include "report_log.h"

enum { QUIET = 40000 };

static long long inside, end = 3000, count = 4;
static int value = 1;

int main(void)
{
	CUgraphExecUpdateResultInfo info;
	CUgraphExec exec;
	CUdeviceptr p = make_buffer(3000);
	CUDA_KERNEL_NODE_PARAMS fill_node = kernel_node("k_fill", TK_ARGS(&p, &inside, &count, &value));
	CUDA_KERNEL_NODE_PARAMS flip_node = kernel_node("k_flip", TK_ARGS(&p, &end, &count));
	CUgraph harmless = kernel_graph(&fill_node, NULL);
	CUgraph flip = kernel_graph(&flip_node, NULL);

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
}
