/* How captures end, and what they make. */
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
	CUgraph graph = NULL;
	CUstream s = tk_stream();

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
	CUevent event;
	CUgraph graph;
	CUstream a = tk_stream();
	CUstream b = tk_stream();

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

/* ---- changing what is instantiated ---- */

static CUDA_MEMCPY3D copy_to_pinned(const struct memory *from, const struct memory *pinned)
{
	return (CUDA_MEMCPY3D){
	    .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
	    .srcDevice = from->at,
	    .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
	    .dstDevice = pinned->at,
	    .WidthInBytes = 100,
	    .Height = 1,
	    .Depth = 1,
	};
}

struct transfer {
	CUgraph graph;
	CUgraphNode fill, copy;
};

static CUDA_MEMSET_NODE_PARAMS fill_of(const struct memory *m)
{
	return (CUDA_MEMSET_NODE_PARAMS){.dst = m->at, .elementSize = 1, .width = 100, .height = 1};
}

static struct transfer transfer_of(const struct memory *from, const struct memory *pinned)
{
	CUDA_MEMCPY3D copy = copy_to_pinned(from, pinned);
	CUDA_MEMSET_NODE_PARAMS fill = fill_of(from);
	struct transfer t;

	CK(cuGraphCreate(&t.graph, 0));
	CK(cuGraphAddMemsetNode(&t.fill, t.graph, NULL, 0, &fill, tk_context));
	CK(cuGraphAddMemcpyNode(&t.copy, t.graph, &t.fill, 1, &copy, tk_context));
	return t;
}

static void update_to(const struct memory *was, const struct memory *is, const struct memory *pinned)
{
	struct transfer before = transfer_of(was, pinned), after = transfer_of(is, pinned);
	CUDA_MEMCPY3D copy = copy_to_pinned(is, pinned);
	CUgraphExecUpdateResultInfo info = {0};
	CUgraphExec exec;
	char topic[100];
	CUresult r;

	snprintf(topic, sizeof(topic), "a graph's copy of %s memory moved to %s memory", kind_names[was->kind],
		 kind_names[is->kind]);
	CK(cuGraphInstantiate(&exec, before.graph, 0));
	fact(code(cuGraphExecMemcpyNodeSetParams(exec, before.copy, &copy, tk_context)), "%s", topic);
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphInstantiate(&exec, before.graph, 0));
	r = cuGraphExecUpdate(exec, after.graph, &info);
	REQUIRE(!r == (info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS));
	fact(code(r), "%s by cuGraphExecUpdate", topic);
	fact(number(info.result), "%s by cuGraphExecUpdate, which says", topic);
	CK(cuGraphLaunch(exec, NULL));
	tk_sync();
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(before.graph));
	CK(cuGraphDestroy(after.graph));
}

static void updating(void)
{
	static const enum kind kinds[] = {DEVICE, DEVICE_LARGE, MANAGED, VMM, POOL, PINNED};
	enum { KINDS_OF_UPDATES = sizeof(kinds) / sizeof(kinds[0]) };
	struct memory pinned = memory_new(PINNED), m[KINDS_OF_UPDATES];

	for (int i = 0; i < KINDS_OF_UPDATES; i++)
		m[i] = memory_new(kinds[i]);
	for (int i = 0; i < KINDS_OF_UPDATES; i++)
		for (int j = 0; j < KINDS_OF_UPDATES; j++)
			update_to(&m[i], &m[j], &pinned);
	for (int i = 0; i < KINDS_OF_UPDATES; i++)
		memory_free(&m[i]);
	memory_free(&pinned);
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
	CUgraph outer, child;
	size_t count = 1;
	CUresult r;
	CUstream s = tk_stream();

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
		tk_run_graph(outer, s, 1);
	}
	CK(cuStreamDestroy(s));
}

static void nested_graph(void)
{
	CUgraphExec exec;
	CUgraph graph;
	int ms = 0;
	CUstream s = tk_stream();

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
	CUdeviceptr q;
	const char *name = "";
	unsigned char *host;
	long long off = 1, count = 3;
	size_t n = 32;
	CUresult r;
	CUstream s = tk_stream();
	CUdeviceptr p = tk_alloc(1000);

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

void graph_facts(void)
{
	beginnings();
	end_on_second();
	end_unjoined();
	end_joined();
	destroy_capturing();
	merging();
	captured_graph();
	nested_graph();
	updating();
}
