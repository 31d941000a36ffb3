/*
 * Green contexts: what their streams make of memory of every kind, whose that memory is, and how long it is there. A
 * batch with memory of no context may end its process, so each of these is a process of its own.
 */
#include "conformance.h"
#include "green.h"

enum { GREEN_SIZE = 4 << 20 };

struct green {
	CUgreenCtx handle;
	CUcontext ctx;
	CUstream stream;
	void *host; /* pinned */
};

static struct green green_open(void)
{
	struct green g;

	CK(cuMemHostAlloc(&g.host, GREEN_SIZE, 0));
	g.handle = make_green(&g.ctx);
	CK(cuGreenCtxStreamCreate(&g.stream, g.handle, CU_STREAM_NON_BLOCKING, 0));
	return g;
}

static void green_close(struct green *g)
{
	CK(cuStreamDestroy(g->stream));
	CK(cuGreenCtxDestroy(g->handle));
	CK(cuMemFreeHost(g->host));
}

static CUcontext green_current(const struct green *g, int primary)
{
	CUcontext c = primary ? tk_context : g->ctx;

	CK(cuCtxSetCurrent(c));
	return c;
}

static const char *current_name(int primary)
{
	return primary ? "primary" : "green";
}

/* The first two are some context's, and the others nobody's. */
static const enum kind green_kinds[] = {DEVICE_LARGE, MANAGED, VMM, POOL};

enum { GREEN_KINDS = sizeof(green_kinds) / sizeof(green_kinds[0]), OWNED_KINDS = 2 };

/* Allocated while the green context is current. */
static struct memory green_memory(const struct green *g, enum kind kind)
{
	struct memory m = {.kind = kind, .size = GREEN_SIZE};

	green_current(g, 0);
	switch (kind) {
	case DEVICE_LARGE:
		CK(cuMemAlloc(&m.at, m.size));
		break;
	case MANAGED:
		CK(cuMemAllocManaged(&m.at, m.size, CU_MEM_ATTACH_GLOBAL));
		break;
	case POOL:
		CK(cuMemAllocAsync(&m.at, m.size, g->stream));
		CK(cuStreamSynchronize(g->stream));
		break;
	default:
		memory_map(&m);
	}
	return m;
}

static CUresult green_batch_of_1(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
	return copy_batch(to, from, 1, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, s);
}

static CUresult green_batch_of_2(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
	return copy_batch(to, from, 2, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, s);
}

static CUresult green_copy_2d(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
	CUDA_MEMCPY2D copy = {
	    .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
	    .srcDevice = from,
	    .srcPitch = 32,
	    .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
	    .dstDevice = to,
	    .dstPitch = 32,
	    .WidthInBytes = 16,
	    .Height = 4,
	};

	return cuMemcpy2DAsync(&copy, s);
}

static CUresult green_copy_3d(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
	CUDA_MEMCPY3D copy = {
	    .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
	    .srcDevice = from,
	    .srcPitch = 32,
	    .srcHeight = 4,
	    .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
	    .dstDevice = to,
	    .dstPitch = 32,
	    .dstHeight = 4,
	    .WidthInBytes = 16,
	    .Height = 4,
	    .Depth = 2,
	};

	return cuMemcpy3DAsync(&copy, s);
}

static CUresult green_copy_linear(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
	return cuMemcpyDtoDAsync(to, from, PIECE, s);
}

/* From and to the context that is current. */
static CUresult green_copy_peer(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
	CUcontext c;

	CK(cuCtxGetCurrent(&c));
	return cuMemcpyPeerAsync(to, c, from, c, PIECE, s);
}

static CUresult green_graph(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
	CUgraphExec exec;
	CUgraph graph;
	CUresult r;

	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	r = cuMemcpyAsync(to, from, PIECE, s);
	r = r ? r : cuMemsetD8Async(from, 3, PIECE, s);
	r = r ? r : cuMemcpyDtoDAsync(to + PIECE, from, PIECE, s);
	CK(cuStreamEndCapture(s, &graph));
	CK(cuGraphInstantiate(&exec, graph, 0));
	r = r ? r : cuGraphLaunch(exec, s);
	r = r ? r : cuStreamSynchronize(s);
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	return r;
}

static CUresult green_fill(CUdeviceptr at, CUdeviceptr unused TK_UNUSED, CUstream s)
{
	return cuMemsetD8Async(at, 1, PIECE, s);
}

static CUresult green_fill_2d(CUdeviceptr at, CUdeviceptr unused TK_UNUSED, CUstream s)
{
	return cuMemsetD2D8Async(at, 32, 2, 16, 4, s);
}

static CUresult green_write(CUdeviceptr at, CUdeviceptr unused TK_UNUSED, CUstream s)
{
	return cuStreamWriteValue32(s, at, 4, 0);
}

static CUresult green_prefetch(CUdeviceptr at, CUdeviceptr unused TK_UNUSED, CUstream s)
{
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device};

	return cuMemPrefetchAsync(at, GREEN_SIZE, here, 0, s);
}

static CUresult green_prefetch_batch(CUdeviceptr at, CUdeviceptr unused TK_UNUSED, CUstream s)
{
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device};
	size_t size = GREEN_SIZE, first = 0;

	return cuMemPrefetchBatchAsync(&at, &size, 1, &here, &first, 1, 0, s);
}

static CUresult green_discard_batch(CUdeviceptr at, CUdeviceptr unused TK_UNUSED, CUstream s)
{
	size_t size = GREEN_SIZE;

	return cuMemDiscardBatchAsync(&at, &size, 1, 0, s);
}

/* Where memory is one side alone, pinned memory is the other. Batches come first. */
static const struct green_call {
	const char *name;
	CUresult (*run)(CUdeviceptr to, CUdeviceptr from, CUstream s);
	enum { WITHIN, FROM, TO } side;
} green_calls[] = {
    {"cuMemcpyBatchAsync of 1 from", green_batch_of_1, FROM},
    {"cuMemcpyBatchAsync of 1 to", green_batch_of_1, TO},
    {"cuMemcpyBatchAsync of 1 within", green_batch_of_1, WITHIN},
    {"cuMemcpyBatchAsync of 2 from", green_batch_of_2, FROM},
    {"cuMemcpyBatchAsync of 2 to", green_batch_of_2, TO},
    {"cuMemcpyBatchAsync of 2 within", green_batch_of_2, WITHIN},
    {"cuMemcpy3DBatchAsync within", copy_box, WITHIN},
    {"cuMemcpy2DAsync within", green_copy_2d, WITHIN},
    {"cuMemcpy3DAsync within", green_copy_3d, WITHIN},
    {"cuMemcpyDtoDAsync within", green_copy_linear, WITHIN},
    {"cuMemcpyPeerAsync within", green_copy_peer, WITHIN},
    {"a captured graph of copies and a fill of", green_graph, WITHIN},
    {"cuMemsetD8Async of", green_fill, WITHIN},
    {"cuMemsetD2D8Async of", green_fill_2d, WITHIN},
    {"cuStreamWriteValue32 of", green_write, WITHIN},
    {"cuMemPrefetchAsync of", green_prefetch, WITHIN},
    {"cuMemPrefetchBatchAsync of", green_prefetch_batch, WITHIN},
    {"cuMemDiscardBatchAsync of", green_discard_batch, WITHIN},
};

enum { GREEN_CALLS = sizeof(green_calls) / sizeof(green_calls[0]), GREEN_BATCHES = 7 };

static CUresult green_run(const struct green *g, const struct green_call *call, const struct memory *m, CUstream s)
{
	CUdeviceptr other = call->side == WITHIN ? m->at + GREEN_SIZE / 2 : (CUdeviceptr)g->host;
	CUresult r = call->side == FROM ? call->run(other, m->at, s) : call->run(m->at, other, s);

	return r ? r : cuStreamSynchronize(s);
}

static const char *green_topic(const struct green_call *call, enum kind kind, int primary)
{
	static char text[128];

	snprintf(text, sizeof(text), "green stream, %s current, %s %s", current_name(primary), call->name,
		 kind_names[kind]);
	return text;
}

static void green_fact(const struct green *g, const struct green_call *call, const struct memory *m, int primary)
{
	green_current(g, primary);
	fact(code(green_run(g, call, m, g->stream)), "%s", green_topic(call, m->kind, primary));
}

static const char *owner_name(const struct green *g, CUdeviceptr at)
{
	CUcontext owner = NULL;
	CUresult r = cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, at);

	if (r)
		return code(r);
	if (!owner)
		return "none";
	return owner == tk_context ? "primary" : owner == g->ctx ? "green" : "another";
}

static void green_facts_of(const struct green *g, unsigned k)
{
	struct memory m = green_memory(g, green_kinds[k]);
	const char *name = kind_names[m.kind];

	fact(owner_name(g, m.at), "context of %s of a green context", name);
	for (int primary = 0; primary < 2; primary++) {
		for (unsigned i = k < OWNED_KINDS ? 0 : GREEN_BATCHES; i < GREEN_CALLS; i++)
			green_fact(g, &green_calls[i], &m, primary);
		fact(code(green_run(g, &green_calls[0], &m, CU_STREAM_PER_THREAD)),
		     "per-thread stream, %s current, %s %s", current_name(primary), green_calls[0].name, name);
	}
	memory_free(&m);
}

static void green_of_stream(CUstream s, const char *name)
{
	CUgreenCtx found = (CUgreenCtx)77;
	CUresult r = cuStreamGetGreenCtx(s, &found);

	fact(code(r), "cuStreamGetGreenCtx of %s", name);
	fact(!found ? "NULL" : found == (CUgreenCtx)77 ? "nothing" : "a handle", "which gives");
}

/* Of the default streams, with a capture under way in another context's blocking stream or in none. */
static void green_homes(const struct green *g)
{
	static const CUstream streams[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
	static const char *const names[] = {"the null stream", "the legacy stream", "the per-thread stream"};
	CUstream blocking;
	CUgraph graph;

	green_current(g, 1);
	CK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	for (int captured = 0; captured < 2; captured++)
		for (int i = 0; i < 3; i++) {
			CUgreenCtx green = NULL;
			CUcontext home = NULL;
			CUresult r;

			if (captured)
				CK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
			green_current(g, 0);
			r = cuStreamGetCtx_v2(streams[i], &home, &green);
			fact(code(r), "home of %s of a green context%s", names[i],
			     captured ? " while a blocking stream of the primary one is captured" : "");
			if (!r)
				fact(yes_no(home == tk_context && green), "which is the primary one");
			green_current(g, 1);
			if (captured) {
				r = cuStreamEndCapture(blocking, &graph);
				fact(code(r), "and the end of the capture");
				if (!r)
					CK(cuGraphDestroy(graph));
			}
		}
	CK(cuStreamDestroy(blocking));
}

void green_facts(void)
{
	struct green g = green_open();
	CUstream ordinary;

	green_current(&g, 1);
	CK(cuStreamCreate(&ordinary, CU_STREAM_NON_BLOCKING));
	green_of_stream(ordinary, "an ordinary stream");
	green_of_stream(g.stream, "a green stream");
	CK(cuStreamDestroy(ordinary));
	green_homes(&g);
	for (unsigned k = 0; k < GREEN_KINDS; k++)
		green_facts_of(&g, k);
	green_close(&g);
}

/* The processes of the batches that may end theirs: one for each, whichever context is current. */

enum { GREEN_CHILDREN = (GREEN_KINDS - OWNED_KINDS) * 2 * GREEN_BATCHES };

struct green_child {
	const struct green_call *call;
	enum kind kind;
	int primary;
};

static struct green_child green_child(unsigned n)
{
	return (struct green_child){&green_calls[n % GREEN_BATCHES], green_kinds[OWNED_KINDS + n / GREEN_BATCHES / 2],
				    n / GREEN_BATCHES % 2};
}

static const char *green_child_name(unsigned n)
{
	struct green_child c = green_child(n);

	return green_topic(c.call, c.kind, c.primary);
}

int child_green_batch(const char *name)
{
	struct green_child c;
	struct memory m;
	struct green g;
	unsigned n = 0;

	while (n < GREEN_CHILDREN && strcmp(green_child_name(n), name))
		n++;
	REQUIRE(n < GREEN_CHILDREN);
	c = green_child(n);
	tk_start();
	g = green_open();
	m = green_memory(&g, c.kind);
	green_fact(&g, c.call, &m, c.primary);
	return 0;
}

void green_process_facts(void)
{
	for (unsigned n = 0; n < GREEN_CHILDREN; n++)
		run_child(green_child_name(n));
}

/* Nobody retains the primary context but the green ones. */

static void primary_is_active(const char *when)
{
	unsigned flags;
	int active;

	CK(cuDevicePrimaryCtxGetState(tk_device, &flags, &active));
	fact(number(active), "the primary context is active %s", when);
}

void child_green_alone(void)
{
	static const char *const names[] = {"device", "device 4 MiB"};
	static const size_t sizes[] = {1000, GREEN_SIZE};
	unsigned long long id;
	CUgreenCtx first, second;
	CUcontext c, rest;
	CUdeviceptr p[2];

	tk_init();
	CK(cuDeviceGet(&tk_device, 0));
	primary_is_active("before there is a green one");
	first = make_green(&c);
	primary_is_active("while a green one is");
	fact(code(cuDevicePrimaryCtxReset(tk_device)), "cuDevicePrimaryCtxReset while a green one is");
	fact(code(cuMemAlloc(&p[0], 1000)), "cuMemAlloc after that");
	for (int i = 0; i < 2; i++)
		CK(cuMemAlloc(&p[i], sizes[i]));
	second = make_green(&rest);
	CK(cuGreenCtxDestroy(first));
	primary_is_active("while another green one is");
	for (int i = 0; i < 2; i++)
		fact(code(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, p[i])),
		     "buffer ID of %s of a green context while there is another", names[i]);
	CK(cuGreenCtxDestroy(second));
	primary_is_active("after the last green one");
	for (int i = 0; i < 2; i++)
		fact(code(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, p[i])),
		     "buffer ID of %s of a green context after the last", names[i]);
}
