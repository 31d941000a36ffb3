// guarded: some
/* Every way to a graph: nodes of all kinds, captures, instantiation, updates, launches. */
#include "../kernel_node.h"
#include "every.h"

#define N 1000

static CUdeviceptr p;
static CUstream stream;

static CUgraph flip_graph(long long off, long long count, CUgraphNode *node)
{
	CUDA_KERNEL_NODE_PARAMS k = kernel_node("k_flip", TK_ARGS(&p, &off, &count));

	return kernel_graph(&k, node);
}

static void run(CUgraphExec exec)
{
	BOTH(cuGraphLaunch, _ptsz, exec, stream);
	tk_sync();
	SAY(cuGraphLaunch, exec, NULL);
	say_bytes("bytes", p, N);
}

static void use(CUgraphExec exec)
{
	run(exec);
	SAY(cuGraphExecDestroy, exec);
}

static void instantiations(void)
{
	CUgraph graph = flip_graph(1, 2, NULL);
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 0};
	CUgraphNode wrong = NULL;
	CUgraphExec exec = NULL;
	char log[100] = "";

	SAY(cuGraphInstantiate, &exec, graph, &wrong, log, sizeof(log));
	use(exec);
	SAY(cuGraphInstantiate_v2, &exec, graph, &wrong, log, sizeof(log));
	use(exec);
	SAY(cuGraphInstantiateWithFlags, &exec, graph, 0);
	use(exec);
	SAY(cuGraphInstantiateWithParams, &exec, graph, &params);
	use(exec);
	SAY(cuGraphInstantiateWithParams_ptsz, &exec, graph, &params);
	use(exec);
	SAY(cuGraphInstantiateWithFlags, &exec, NULL, 0);
	CK(cuGraphDestroy(graph));
}

static void updates(void)
{
	CUgraphNode node, inner_node, wrong;
	CUgraph graph = flip_graph(10, 2, &node), other = flip_graph(20, 3, NULL),
		inner = flip_graph(30, 4, &inner_node), outer;
	CUgraphExecUpdateResultInfo info = {.result = 0};
	CUgraphExecUpdateResult result = 0;
	long long off = 40, count = 3;
	CUDA_KERNEL_NODE_PARAMS k = kernel_node("k_flip", TK_ARGS(&p, &off, &count));
	CUDA_KERNEL_NODE_PARAMS_v1 older;
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
	CUgraphExec exec;

	CK(cuGraphInstantiate(&exec, graph, 0));
	SAY(cuGraphExecUpdate, exec, other, &wrong, &result);
	printf("result %d\n", (int)result);
	run(exec);
	SAY(cuGraphExecUpdate_v2, exec, graph, &info);
	printf("result %d\n", (int)info.result);
	run(exec);
	memcpy(&older, &k, sizeof(older));
	SAY(cuGraphExecKernelNodeSetParams, exec, node, &older);
	run(exec);
	off++;
	SAY(cuGraphExecKernelNodeSetParams_v2, exec, node, &k);
	run(exec);
	off++;
	memcpy(&any.kernel, &k, sizeof(k));
	SAY(cuGraphExecNodeSetParams, exec, node, &any);
	use(exec);
	CK(cuGraphCreate(&outer, 0));
	CK(cuGraphAddChildGraphNode(&node, outer, NULL, 0, inner));
	CK(cuGraphInstantiate(&exec, outer, 0));
	SAY(cuGraphExecChildGraphNodeSetParams, exec, node, other);
	use(exec);
}

static CUgraphNodeParams kernel_params(const CUDA_KERNEL_NODE_PARAMS *k)
{
	CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};

	memcpy(&any.kernel, k, sizeof(*k));
	return any;
}

static void nodes(void)
{
	long long off = 60, count = 3;
	CUDA_KERNEL_NODE_PARAMS k = kernel_node("k_flip", TK_ARGS(&p, &off, &count));
	CUgraphNodeParams kernel = kernel_params(&k);
	CUgraphNodeParams alloc = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
	CUDA_MEM_ALLOC_NODE_PARAMS memory = {.bytesize = 5000};
	CUgraphNode first, second;
	CUgraphExec exec;
	CUgraph graph;

	memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	memory.poolProps.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, tk_device};
	alloc.alloc.poolProps = memory.poolProps;
	alloc.alloc.bytesize = 6000;
	CK(cuGraphCreate(&graph, 0));
	SAY(cuGraphAddNode, &first, graph, NULL, 0, &kernel);
	off++;
	SAY(cuGraphAddNode_v2, &second, graph, &first, NULL, 1, &kernel);
	off++;
	SAY(cuGraphAddNode_v3, &second, graph, &first, NULL, 1, &kernel);
	CK(cuGraphInstantiate(&exec, graph, 0));
	use(exec);
	SAY(cuGraphAddMemAllocNode, &first, graph, NULL, 0, &memory);
	SAY(cuGraphAddNode, &second, graph, &first, 1, &alloc);
	printf("memory: %d %d\n", memory.dptr != 0, alloc.alloc.dptr != 0);
	CK(cuGraphDestroy(graph));
}

static void flip_twice_captured(CUstream s, long long off)
{
	tk_flip_on(s, p, off, 3);
	tk_flip_on(s, p, off + 1, 3);
}

static void play(CUgraph graph)
{
	CUgraphExec exec;
	size_t count = 0;

	CK(cuGraphGetNodes(graph, NULL, &count));
	CK(cuGraphInstantiate(&exec, graph, 0));
	printf("nodes: %zu\n", count);
	use(exec);
}

/* The graph that a capture ended in, played and gone. */
static void play_and_end(CUgraph graph)
{
	play(graph);
	CK(cuGraphDestroy(graph));
}

#define CAPTURE(begin, end, ...) \
	do { \
		every_say(#begin, hook_##begin(__VA_ARGS__)); \
		flip_twice_captured(stream, 80); \
		every_say(#end, hook_##end(stream, &graph)); \
		play_and_end(graph); \
	} while (0)

static void captures(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUgraphNode node;
	CUgraph graph, into;

	/* By cuStreamBeginCapture the mode is global. */
	CAPTURE(cuStreamBeginCapture, cuStreamEndCapture, stream);
	CAPTURE(cuStreamBeginCapture_ptsz, cuStreamEndCapture_ptsz, stream);
	CAPTURE(cuStreamBeginCapture_v2, cuStreamEndCapture_ptsz, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
	CAPTURE(cuStreamBeginCapture_v2_ptsz, cuStreamEndCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
	SAY(cuStreamBeginCapture_v2, NULL, CU_STREAM_CAPTURE_MODE_GLOBAL);
	SAY(cuStreamEndCapture, stream, &graph);

	/* A thread's own default stream. */
	if (SAY(cuStreamBeginCapture_v2_ptsz, NULL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) == CUDA_SUCCESS) {
		flip_twice_captured(CU_STREAM_PER_THREAD, 90);
		SAY(cuStreamEndCapture_ptsz, NULL, &graph);
		play_and_end(graph);
	}
	for (int i = 0; i < 2; i++) {
		into = flip_graph(100, 4, &node);
		if ((i ? SAY(cuStreamBeginCaptureToGraph_ptsz, stream, into, &node, NULL, 1, mode)
		       : SAY(cuStreamBeginCaptureToGraph, stream, into, &node, NULL, 1, mode)) == CUDA_SUCCESS) {
			flip_twice_captured(stream, 110);
			SAY(cuStreamEndCapture, stream, &graph);
			printf("the same graph: %d\n", graph == into);
			play(into);
		}
		CK(cuGraphDestroy(into));
	}
	CK(cuThreadExchangeStreamCaptureMode(&mode));
	printf("was mode %d\n", (int)mode);
	CK(cuThreadExchangeStreamCaptureMode(&mode));
	printf("was mode %d\n", (int)mode);
}

/* What a callback is asked does not matter. */
static void recaptures(void)
{
	CUgraph graph, into = flip_graph(120, 4, NULL);

	if (SAY(cuStreamBeginRecaptureToGraph, stream, CU_STREAM_CAPTURE_MODE_RELAXED, into, NULL, NULL) ==
	    CUDA_SUCCESS) {
		flip_twice_captured(stream, 130);
		SAY(cuStreamEndCapture, stream, &graph);
	}
	if (SAY(cuStreamBeginRecaptureToGraph_ptsz, stream, CU_STREAM_CAPTURE_MODE_RELAXED, into, NULL, NULL) ==
	    CUDA_SUCCESS) {
		flip_twice_captured(stream, 130);
		SAY(cuStreamEndCapture, stream, &graph);
	}
}

static void calls(void)
{
	instantiations();
	updates();
	nodes();
	captures();
	recaptures();
}

int main(void)
{
	p = tk_alloc(N);
	CK(cuMemsetD8(p, 7, N));
	tk_sync();
	stream = tk_stream();
	every_way(calls);
}
