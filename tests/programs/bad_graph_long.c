// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// options: log_path=report.log
/*
 * The kernel is the last of more nodes than are looked at: that there may be others is said, and the next step is not
 * for those alone that are named.
 */
#include "make_buffer.h"
#include "report_log.h"

enum { NODES = 1200 };

static CUDA_KERNEL_NODE_PARAMS params_of(const char *kernel, void **args)
{
	return (CUDA_KERNEL_NODE_PARAMS){
	    .func = tk_kernel(kernel),
	    .gridDimX = 1,
	    .gridDimY = 1,
	    .gridDimZ = 1,
	    .blockDimX = 4,
	    .blockDimY = 1,
	    .blockDimZ = 1,
	    .kernelParams = args,
	};
}

int main(void)
{
	long long inside = 0, end = 3000, count = 4;
	CUDA_KERNEL_NODE_PARAMS harmless, flip;
	CUgraphNode node = NULL;
	CUgraphExec exec;
	CUgraph graph;
	CUdeviceptr p;
	int value = 1;

	tk_start();
	p = make_buffer(3000);
	harmless = params_of("k_fill", TK_ARGS(&p, &inside, &count, &value));
	flip = params_of("k_flip", TK_ARGS(&p, &end, &count));
	CK(cuGraphCreate(&graph, 0));
	for (int i = 0; i < NODES; i++)
		CK(cuGraphAddKernelNode(&node, graph, node ? &node : NULL, node ? 1 : 0,
					i == NODES - 1 ? &flip : &harmless));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, NULL));
	tk_sync();
	CK(cuMemFree(p));
	REQUIRE(wait_for_report("; unknown x1 on the default stream in graph", 1000));
	REQUIRE(wait_for_report("compute-sanitizer --tool memcheck ", 1000));
	REQUIRE(!wait_for_report("--kernel-name", 1));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	return 0;
}
