/* A kernel whose one thread makes an access, and what the program does behind its wait. */
#pragma once

#include "make_buffer.h"

#include <stdbool.h>

enum act {
	ASK,
	IN_A_GRAPH,
	QUERY,
	EXIT,
	EXIT_AT_ONCE,
	RETURN,
	FREE,
	DESTROY,
	RESET,
	UNLOAD,
	EXEC,
	CLOSE_ALL,
	CAPTURE,
	TWO_CONTEXTS,
	TWO_DEVICES,
	DROP_ROOT,
	ATTRIBUTES,
	PIPE,
	ASK_AND_RESET,
	COPY_ROWS
};

enum { SIZE = 8 << 20 };
#define NOWHERE 0x10000000
#define INSIDE 1
#define FREED 2
#define FAR 3
#define LIVE 4

static CUdeviceptr place(long long where)
{
	CUdeviceptr p;

	if (where < INSIDE || where > LIVE)
		return (CUdeviceptr)where;
	p = make_buffer(SIZE);
	if (where == FREED)
		CK(cuMemFree(p));
	return where == INSIDE || where == LIVE ? p : where == FREED ? p + 4096 : p + SIZE + ((CUdeviceptr)512 << 20);
}

static bool faults; /* it is to */

/* Until it says what has happened. A wait may say once that all is well. */
static void ask(void)
{
	CUresult r = CUDA_SUCCESS;
	double end = tk_ms() + (faults ? 5000 : 50);

	while (r == CUDA_SUCCESS && tk_ms() < end) {
		r = cuCtxSynchronize();
		usleep(1000);
	}
	REQUIRE((r != CUDA_SUCCESS) == faults);
	EXPECT(cuCtxSynchronize(), r);
}

static void launch(const char *kernel, CUdeviceptr p, CUstream s)
{
	long long who = 71;

	tk_launch(tk_kernel(kernel), 4, 32, s, TK_ARGS(&p, &who));
}

static void launch_graph(const char *kernel, CUdeviceptr p)
{
	CUstream s = tk_stream();
	CUgraph graph;
	CUgraphExec exec;

	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	launch(kernel, p, s);
	CK(cuStreamEndCapture(s, &graph));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, s));
}

static void query(void)
{
	CUresult r;
	double end = tk_ms() + (faults ? 5000 : 50);

	do {
		r = cuStreamQuery(NULL);
		usleep(1000);
	} while ((r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_READY) && tk_ms() < end);
	REQUIRE(faults == (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY));
}

/* A capture goes on whatever happens beside it. */
static void capture(void)
{
	CUstream s = tk_stream();
	CUgraph graph;

	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	usleep(100000);
	cuStreamEndCapture(s, &graph);
	ask();
}

static void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static bool dumps_are_enabled(void)
{
	bool enabled = true;
	size_t size = sizeof(enabled);

	CK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, &size));
	return enabled;
}

/* Made before the fault: on a GPU an allocation behind it waits for the dump, and fails. */
static CUdeviceptr spare;

static void copy_rows(void)
{
	char here[64];
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			      .srcDevice = spare,
			      .srcPitch = 16,
			      .dstMemoryType = CU_MEMORYTYPE_HOST,
			      .dstHost = here,
			      .dstPitch = 16,
			      .WidthInBytes = 16,
			      .Height = 4};
	CUresult r = CUDA_SUCCESS;
	double end = tk_ms() + (faults ? 5000 : 50);

	while (r == CUDA_SUCCESS && tk_ms() < end)
		r = cuMemcpy2D(&rows);
	REQUIRE((r != CUDA_SUCCESS) == faults);
}

static CUcontext device[2]; /* their primary contexts */

static void work_on(int ordinal)
{
	CUdeviceptr p;

	CK(cuCtxSetCurrent(device[ordinal]));
	tk_module = tk_load_kernels();
	p = make_buffer(4096);
	tk_flip(p, 0, 4096);
	tk_sync();
	CK(cuMemFree(p));
}

/* The second one is to fault. */
static void start_on_two_devices(void)
{
	if (tk_init() < 2)
		tk_skip("one device only");
	for (int i = 0; i < 2; i++) {
		CK(cuDevicePrimaryCtxRetain(&device[i], i));
		work_on(i);
	}
}

/* Services do so once they have opened what they need. */
static void drop_root(void)
{
	if (geteuid())
		tk_skip("not run as root");
	REQUIRE(!setgid(65534) && !setuid(65534));
}

static int ends[2];

static void act(enum act what)
{
	char c;

	switch (what) {
	case EXIT:
		exit(0);
	case EXIT_AT_ONCE:
		_exit(0);
	case FREE:
		CK(cuMemFree(spare));
		break;
	case DESTROY:
		CK(cuCtxDestroy(tk_context));
		return;
	/* Told of the fault, the program ends as it likes. */
	case ASK_AND_RESET:
		ask();
		CK(cuDevicePrimaryCtxReset(tk_device));
		return;
	/* A copy of rows says of work before it that it has gone well, as any. */
	case COPY_ROWS:
		copy_rows();
		return;
	case RESET:
		CK(cuDevicePrimaryCtxReset(tk_device));
		return;
	case UNLOAD:
		cuModuleUnload(tk_module);
		break;
	case EXEC:
		execv("/bin/true", (char *[]){"true", NULL});
		break;
	case CLOSE_ALL:
		close_all();
		break;
	case CAPTURE:
		capture();
		return;
	/* Not asserted is how the first device's context fares behind the fault: without a dump it breaks as well
	 * (bad_other_device_breaks), and with one this was not tried on two GPUs. */
	case TWO_DEVICES:
		ask();
		if (!faults)
			work_on(0);
		return;
	/* The driver's answer is not the library's setting. */
	/* A pipe ends when the program's last write end is closed, whatever copies of its descriptors there were. */
	case PIPE:
		close(ends[1]);
		REQUIRE(read(ends[0], &c, 1) == 0);
		break;
	case ATTRIBUTES:
		REQUIRE(!dumps_are_enabled());
		break;
	case QUERY:
		query();
		return;
	case RETURN:
		return;
	default:
		break;
	}
	ask();
}

static void run(const char *kernel, long long where, enum act what)
{
	CUcontext other;
	CUdeviceptr p;

	faults = where != LIVE;
	REQUIRE(!pipe(ends));
	if (what == ATTRIBUTES) {
		CK(cuInit(0));
		REQUIRE(!dumps_are_enabled());
	}
	if (what == DESTROY) {
		tk_init();
		CK(tk_create_context(&tk_context, tk_device));
		tk_module = tk_load_kernels();
	}
	if (what == TWO_DEVICES)
		start_on_two_devices();
	if (what == TWO_CONTEXTS) {
		tk_start();
		CK(tk_create_context(&other, tk_device));
		CK(cuMemFree(make_buffer(4096)));
		CK(cuCtxSetCurrent(tk_context));
	}
	spare = make_buffer(4096);
	if (what == DROP_ROOT)
		drop_root();
	p = place(where);
	if (what == IN_A_GRAPH)
		launch_graph(kernel, p);
	else
		launch(kernel, p, NULL);
	if (what != QUERY)
		cuCtxSynchronize();
	act(what);
}
