/* Green contexts: whose their streams and memory are, and how long they hold the primary context. */
#include "conformance.h"
#include "green.h"

struct green {
	CUgreenCtx handle;
	CUcontext ctx;
	CUstream stream;
};

static struct green green_open(void)
{
	struct green g;

	g.handle = make_green(&g.ctx);
	CK(cuGreenCtxStreamCreate(&g.stream, g.handle, CU_STREAM_NON_BLOCKING, 0));
	return g;
}

static void green_close(struct green *g)
{
	CK(cuStreamDestroy(g->stream));
	CK(cuGreenCtxDestroy(g->handle));
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

/* What is made while it is current, and used in its stream. */
static void green_memory(const struct green *g, enum kind kind)
{
	struct memory m = memory_new(kind);

	fact(owner_name(g, m.at), "context of %s of a green context", kind_names[kind]);
	fact(code(cuMemsetD8Async(m.at, 1, 16, g->stream)), "green stream, fill of %s", kind_names[kind]);
	fact(code(cuStreamSynchronize(g->stream)), "and the wait for it");
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

	CK(cuCtxSetCurrent(tk_context));
	CK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	for (int captured = 0; captured < 2; captured++)
		for (int i = 0; i < 3; i++) {
			CUgreenCtx green = NULL;
			CUcontext home = NULL;
			CUresult r;

			if (captured)
				CK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
			CK(cuCtxSetCurrent(g->ctx));
			r = cuStreamGetCtx_v2(streams[i], &home, &green);
			fact(code(r), "home of %s of a green context%s", names[i],
			     captured ? " while a blocking stream of the primary one is captured" : "");
			if (!r)
				fact(yes_no(home == tk_context && green), "which is the primary one");
			CK(cuCtxSetCurrent(tk_context));
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
	static const enum kind kinds[] = {DEVICE, DEVICE_LARGE, MANAGED, VMM};
	struct green g = green_open();
	CUstream ordinary;

	CK(cuCtxSetCurrent(tk_context));
	CK(cuStreamCreate(&ordinary, CU_STREAM_NON_BLOCKING));
	green_of_stream(ordinary, "an ordinary stream");
	green_of_stream(g.stream, "a green stream");
	CK(cuStreamDestroy(ordinary));
	green_homes(&g);
	CK(cuCtxSetCurrent(g.ctx));
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		green_memory(&g, kinds[i]);
	CK(cuCtxSetCurrent(tk_context));
	green_close(&g);
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
	static const size_t sizes[] = {1000, 4 << 20};
	unsigned long long id;
	CUgreenCtx first, second;
	CUcontext c, rest;
	CUdeviceptr p[2];

	tk_init();
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
