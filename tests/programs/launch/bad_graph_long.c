// expect: 2 x heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/*
 * The kernel is the last of a thousand nodes and more, and is named. In a graph within a graph, deeper than is looked,
 * it is not: that there may be others than the named ones is said, and the next step is not for those alone.
 */
#include "kernel_node.h"
#include "make_buffer.h"
#include "report_log.h"

enum { NODES = 1200, LEVELS = 6 };

static long long inside, end = 3000, count = 4;
static int value = 1;

static void launch_over(CUgraph graph, CUdeviceptr p)
{
	CUgraphExec exec;

	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, NULL));
	tk_sync();
	CK(cuMemFree(p));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
}

static void overrun_last(void)
{
	CUdeviceptr p = make_buffer(3000);
	CUDA_KERNEL_NODE_PARAMS harmless = kernel_node("k_fill", TK_ARGS(&p, &inside, &count, &value));
	CUDA_KERNEL_NODE_PARAMS flip = kernel_node("k_flip", TK_ARGS(&p, &end, &count));
	CUgraphNode node = NULL;
	CUgraph graph;

	CK(cuGraphCreate(&graph, 0));
	for (int i = 0; i < NODES; i++)
		CK(cuGraphAddKernelNode(&node, graph, node ? &node : NULL, node ? 1 : 0,
					i == NODES - 1 ? &flip : &harmless));
	launch_over(graph, p);
}

static void overrun_deep(void)
{
	CUdeviceptr p = make_buffer(3000);
	CUDA_KERNEL_NODE_PARAMS harmless = kernel_node("k_fill", TK_ARGS(&p, &inside, &count, &value));
	CUDA_KERNEL_NODE_PARAMS flip = kernel_node("k_flip", TK_ARGS(&p, &end, &count));
	CUgraph inner = kernel_graph(&flip, NULL), outer;
	CUgraphNode node;

	for (int i = 0; i < LEVELS; i++) {
		CK(cuGraphCreate(&outer, 0));
		CK(cuGraphAddChildGraphNode(&node, outer, NULL, 0, inner));
		CK(cuGraphDestroy(inner));
		inner = outer;
	}
	CK(cuGraphAddKernelNode(&node, outer, NULL, 0, &harmless));
	launch_over(outer, p);
}

int main(void)
{
	tk_start();
	overrun_last();
	REQUIRE(wait_for_report("--kernel-name kernel_substring=k_flip", 1000));
	REQUIRE(!wait_for_report("unknown", 1));
	overrun_deep();
	REQUIRE(wait_for_report("unknown x1 on the default stream in graph", 1000));
}
