/* How captures end, and what they make. */
#ifndef GMOD_CONFORMANCE_GRAPH_H
#define GMOD_CONFORMANCE_GRAPH_H

#include "conformance.h"

/* Two streams, the second joins what the first captures and adds a kernel. */
struct fork {
	CUstream first, second;
	CUevent event;
	CUgraph graph;
};

static void fork_open(struct fork *f)
{
	int ms = 0;

	f->graph = NULL;
	CK(cuStreamCreate(&f->first, CU_STREAM_NON_BLOCKING));
	CK(cuStreamCreate(&f->second, CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate(&f->event, CU_EVENT_DISABLE_TIMING));
	CK(cuStreamBeginCapture(f->first, CU_STREAM_CAPTURE_MODE_RELAXED));
	CK(cuEventRecord(f->event, f->first));
	CK(cuStreamWaitEvent(f->second, f->event, 0));
	tk_launch(tk_kernel("k_spin_ms"), 1, 1, f->second, TK_ARGS(&ms));
}

static void fork_close(struct fork *f)
{
	if (f->graph)
		CK(cuGraphDestroy(f->graph));
	CK(cuEventDestroy(f->event));
	CK(cuStreamDestroy(f->second));
	CK(cuStreamDestroy(f->first));
	tk_sync();
}

static void beginnings(void)
{
	CUstream s;
	CUgraph graph = NULL;

	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	fact(code(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED)), "capture of the null stream");
	fact(code(cuStreamEndCapture(s, &graph)), "ending what was not begun");
	fact(code(cuStreamBeginCapture(s, 99)), "capture of no mode");
	CK(cuStreamDestroy(s));
}

static void end_on_second(void)
{
	CUstreamCaptureStatus status;
	struct fork f;

	fork_open(&f);
	CK(cuStreamIsCapturing(f.second, &status));
	fact(number(status), "status of a stream that joined");
	fact(code(cuStreamEndCapture(f.second, &f.graph)), "ending on a stream that joined");
	fact(code(cuStreamEndCapture(f.first, &f.graph)), "ending after that");
	fork_close(&f);
}

static void end_unjoined(void)
{
	struct fork f;

	fork_open(&f);
	fact(code(cuStreamEndCapture(f.first, &f.graph)), "ending with unjoined work");
	fact(yes_no(f.graph == NULL), "which gives no graph");
	fact(code(cuStreamQuery(f.second)), "asking the unjoined stream then");
	fact(code(cuStreamWaitEvent(f.second, f.event, 0)), "waiting for an event of a capture that ended");
	fact(code(cuEventQuery(f.event)), "asking an event of a capture that ended");
	fork_close(&f);
}

static void end_joined(void)
{
	CUstreamCaptureStatus status;
	struct fork f;

	fork_open(&f);
	CK(cuEventRecord(f.event, f.second));
	CK(cuStreamWaitEvent(f.first, f.event, 0));
	fact(code(cuStreamEndCapture(f.first, &f.graph)), "ending with joined work");
	CK(cuStreamIsCapturing(f.second, &status));
	fact(number(status), "status of the joined stream then");
	fork_close(&f);
}

static void destroy_capturing(void)
{
	struct fork f;

	fork_open(&f);
	fact(code(cuStreamDestroy(f.first)), "destroying the stream that captures");
	fact(code(cuStreamQuery(f.second)), "asking the one that joined then");
	CK(cuStreamCreate(&f.first, CU_STREAM_NON_BLOCKING));
	fork_close(&f);
}

static void merging(void)
{
	CUstream a, b;
	CUevent event;
	CUgraph graph;

	CK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	CK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	CK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
	CK(cuStreamBeginCapture(b, CU_STREAM_CAPTURE_MODE_RELAXED));
	CK(cuEventRecord(event, a));
	fact(code(cuStreamWaitEvent(b, event, 0)), "waiting for another capture's event");
	fact(code(cuStreamEndCapture(a, &graph)), "ending the one capture");
	fact(code(cuStreamEndCapture(b, &graph)), "ending the other capture");
	CK(cuEventDestroy(event));
	CK(cuStreamDestroy(a));
	CK(cuStreamDestroy(b));
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static void print_nodes(const char *name, CUgraph graph)
{
	CUgraphNode nodes[32];
	CUgraphNodeType type;
	char list[200] = "";
	size_t count = 32;

	CK(cuGraphGetNodes(graph, nodes, &count));
	for (size_t i = 0; i < count; i++) {
		CK(cuGraphNodeGetType(nodes[i], &type));
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%d", i ? " " : "", (int)type);
	}
	fact(list, "types of the nodes of %s", name);
}

/* A graph launched into a capture becomes a node of another. */
static void launch_captured(CUgraphExec exec, const char *name)
{
	CUgraphNode node;
	CUgraphExec outer_exec;
	CUgraph outer, child;
	CUstream s;
	size_t count = 1;
	CUresult r;

	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	fact(code(cuGraphLaunch(exec, s)), "launching %s into a capture", name);
	r = cuStreamEndCapture(s, &outer);
	fact(code(r), "the capture of %s", name);
	if (!r) {
		print_nodes("it", outer);
		CK(cuGraphGetNodes(outer, &node, &count));
		r = cuGraphChildGraphNodeGetGraph(node, &child);
		fact(code(r), "its child");
		if (!r)
			print_nodes("the child", child);
		CK(cuGraphInstantiate(&outer_exec, outer, 0));
		CK(cuGraphLaunch(outer_exec, s));
		CK(cuStreamSynchronize(s));
		CK(cuGraphExecDestroy(outer_exec));
		CK(cuGraphDestroy(outer));
	}
	CK(cuStreamDestroy(s));
}

static void nested_graph(void)
{
	CUgraphExec exec;
	CUgraph graph;
	CUstream s;
	int ms = 0;

	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	tk_launch(tk_kernel("k_spin_ms"), 1, 1, s, TK_ARGS(&ms));
	tk_launch(tk_kernel("k_spin_ms"), 1, 1, s, TK_ARGS(&ms));
	CK(cuStreamEndCapture(s, &graph));
	CK(cuGraphInstantiate(&exec, graph, 0));
	launch_captured(exec, "a graph of kernels");
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	CK(cuStreamDestroy(s));
}

/* What becomes of captured work, and that it does the same. */
static void captured_graph(void)
{
	CUDA_KERNEL_NODE_PARAMS params;
	CUgraphNode nodes[32];
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr p, q;
	CUstream s;
	const char *name = "";
	unsigned char *host;
	long long off = 1, count = 3;
	size_t n = 32;
	CUresult r;

	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CK(cuMemAlloc(&p, 1000));
	CK(cuMemHostAlloc((void **)&host, 1000, 0));
	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	CK(cuMemsetD8Async(p, 7, 1000, s));
	tk_launch_n(tk_kernel("k_flip"), 3, s, TK_ARGS(&p, &off, &count));
	CK(cuMemcpyDtoHAsync(host, p, 1000, s));
	CK(cuLaunchHostFunc(s, do_nothing, NULL));
	CK(cuMemAllocAsync(&q, 1000, s));
	CK(cuMemFreeAsync(q, s));
	CK(cuStreamEndCapture(s, &graph));
	print_nodes("a captured graph", graph);
	CK(cuGraphGetNodes(graph, nodes, &n));
	r = cuGraphKernelNodeGetParams(nodes[1], &params);
	fact(code(r), "parameters of a captured kernel");
	if (!r && !params.func)
		CK(cuKernelGetFunction(&params.func, params.kern));
	CK(cuFuncGetName(&name, params.func));
	fact(name, "its name");
	fact(number(params.blockDimX), "its block");
	fact(number(*(long long *)params.kernelParams[2]), "its third argument");
	fact(code(cuGraphKernelNodeGetParams(nodes[0], &params)), "kernel parameters of a fill");
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, s));
	CK(cuStreamSynchronize(s));
	fact(yes_no(host[0] == 7 && host[1] == (7 ^ 0x5a) && host[4] == 7), "the graph does what was captured");
	launch_captured(exec, "a graph with memory nodes");
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	CK(cuMemFree(p));
	CK(cuMemFreeHost(host));
	CK(cuStreamDestroy(s));
	tk_sync();
}

static void graph_facts(void)
{
	beginnings();
	end_on_second();
	end_unjoined();
	end_joined();
	destroy_capturing();
	merging();
	captured_graph();
	nested_graph();
}

#endif
