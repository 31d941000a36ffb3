// expect: 6 x heap-buffer-overflow size 3000 offset +0 in make_buffer
// options: log_path=report.log
/*
 * The kernel comes into its graph when that is instantiated already, in each of the ways there are: the report says
 * that there may be others than the named one. Or it is there beside what is changed, and is named.
 */
#include "kernel_node.h"
#include "make_buffer.h"
#include "report_log.h"

struct made {
	CUgraph graph;
	CUgraphNode node;
};

static long long off, count;
static int value;

static struct made graph_of(const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct made m;

	m.graph = kernel_graph(p, &m.node);
	return m;
}

static struct made outer_of(CUgraph child)
{
	struct made m;

	CK(cuGraphCreate(&m.graph, 0));
	CK(cuGraphAddChildGraphNode(&m.node, m.graph, NULL, 0, child));
	return m;
}

static void by_graph(CUgraphExec exec, const struct made *m TK_UNUSED, const CUDA_KERNEL_NODE_PARAMS *p)
{
	CUgraphExecUpdateResultInfo info;
	struct made other = graph_of(p);

	CK(cuGraphExecUpdate(exec, other.graph, &info));
	CK(cuGraphDestroy(other.graph));
}

static void by_node(CUgraphExec exec, const struct made *m, const CUDA_KERNEL_NODE_PARAMS *p)
{
	CK(cuGraphExecKernelNodeSetParams(exec, m->node, p));
}

static void by_any_node(CUgraphExec exec, const struct made *m, const CUDA_KERNEL_NODE_PARAMS *p)
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};

	memcpy(&any.kernel, p, sizeof(*p)); /* the same, but for how a context would be named */
	CK(cuGraphExecNodeSetParams(exec, m->node, &any));
}

static void by_child(CUgraphExec exec, const struct made *m, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct made inner = graph_of(p);

	CK(cuGraphExecChildGraphNodeSetParams(exec, m->node, inner.graph));
	CK(cuGraphDestroy(inner.graph));
}

static void by_any_child(CUgraphExec exec, const struct made *m, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct made inner = graph_of(p);
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph.graph = inner.graph};

	CK(cuGraphExecNodeSetParams(exec, m->node, &any));
	CK(cuGraphDestroy(inner.graph));
}

static void require_suspect(const char *name, CUgraphExec exec)
{
	char text[80];

	snprintf(text, sizeof(text), "%s x1 on the default stream in graph %p", name, (void *)exec);
	REQUIRE(wait_for_report(text, 10000));
}

static void end(CUdeviceptr p, CUgraphExec exec)
{
	tk_sync();
	CK(cuMemFree(p));
	require_suspect("unknown", exec);
}

/* So that the graph before is known to be over, and no suspect of this one's. */
static CUdeviceptr make_after_a_rest(void)
{
	tk_sleep_ms(300);
	return make_buffer(3000);
}

/* Executable graphs stay, so that each has a handle of its own. */
static void overrun(void (*update)(CUgraphExec, const struct made *, const CUDA_KERNEL_NODE_PARAMS *))
{
	CUdeviceptr p = make_after_a_rest();
	long long inside = 0;
	CUDA_KERNEL_NODE_PARAMS harmless = kernel_node("k_fill", TK_ARGS(&p, &inside, &count, &value));
	CUDA_KERNEL_NODE_PARAMS flip = kernel_node("k_flip", TK_ARGS(&p, &off, &count));
	int nested = update == by_child || update == by_any_child;
	struct made inner = graph_of(&harmless), m = nested ? outer_of(inner.graph) : inner;
	CUgraphExec exec;

	CK(cuGraphInstantiate(&exec, m.graph, 0));
	CK(cuGraphLaunch(exec, NULL));
	tk_sync();
	update(exec, &m, &flip);
	CK(cuGraphLaunch(exec, NULL));
	end(p, exec);
	CK(cuGraphDestroy(m.graph));
	if (nested)
		CK(cuGraphDestroy(inner.graph));
}

/* A child that is changed is a part of its graph. */
static void overrun_beside(void)
{
	CUdeviceptr p = make_after_a_rest();
	long long inside = 0;
	CUDA_KERNEL_NODE_PARAMS harmless = kernel_node("k_fill", TK_ARGS(&p, &inside, &count, &value));
	CUDA_KERNEL_NODE_PARAMS flip = kernel_node("k_flip", TK_ARGS(&p, &off, &count));
	struct made inner = graph_of(&harmless), outer = outer_of(inner.graph);
	CUgraphNode node;
	CUgraphExec exec;

	CK(cuGraphAddKernelNode(&node, outer.graph, NULL, 0, &flip));
	CK(cuGraphInstantiate(&exec, outer.graph, 0));
	by_child(exec, &outer, &harmless);
	CK(cuGraphLaunch(exec, NULL));
	end(p, exec);
	require_suspect("k_flip", exec);
	CK(cuGraphDestroy(outer.graph));
	CK(cuGraphDestroy(inner.graph));
}

int main(void)
{
	off = 3000;
	count = 4;
	tk_start();
	overrun(by_graph);
	overrun(by_node);
	overrun(by_any_node);
	overrun(by_child);
	overrun(by_any_child);
	overrun_beside();
	REQUIRE(!wait_for_report("--kernel-name", 1));
}
