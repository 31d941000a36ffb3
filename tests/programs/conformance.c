/*
 * Prints what the driver does, one fact a line. Run on the simulated driver and on a GPU, the difference of the
 * two outputs is what the simulator gets wrong. With an argument it is one of its own children: facts that end
 * a process or its context are found out in a process of their own.
 */
#include "conformance_capture.h"
#include "conformance_graph.h"
#include "conformance_memory.h"
#include "conformance_query.h"
#include "conformance_wait.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

/* Entry points: what cuGetProcAddress says of every row of the table. */

struct row {
	const char *symbol, *base;
	int version;
	const char *flavour;
};

#define GMOD_HOOK(symbol, base, version, flavour) {#symbol, #base, version, #flavour},
#define GMOD_PLAIN(symbol, base, version, flavour) {#symbol, #base, version, #flavour},
#define GMOD_CALL(symbol, base, version, flavour) {#symbol, #base, version, #flavour},

static const struct row rows[] = {
#undef cuGetProcAddress
#include "../../lib/entrypoints.def"
};

typedef CUresult get_proc_v1(const char *, void **, int, cuuint64_t);
typedef CUresult get_proc_v2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static get_proc_v1 *proc_v1;
static get_proc_v2 *proc_v2;

static void row_fact(const struct row *row)
{
	cuuint64_t flags = *row->flavour ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT;
	void *wanted = dlsym(RTLD_DEFAULT, row->symbol), *v1 = NULL, *v2 = NULL;
	CUdriverProcAddressQueryResult status;

	if (!wanted) {
		fact("not exported", "%s", row->symbol);
		return;
	}
	proc_v1(row->base, &v1, row->version, flags);
	proc_v2(row->base, &v2, row->version, flags, &status);
	fact(yes_no(v1 == wanted && v2 == wanted), "%s is %s of %d%s", row->symbol, row->base, row->version,
	     row->flavour);
}

static void proc_fact(const char *name, int version, cuuint64_t flags)
{
	void *v1 = (void *)1, *v2 = (void *)1, *bare = (void *)1;
	CUdriverProcAddressQueryResult status = 77;
	CUresult r1 = proc_v1(name, &v1, version, flags), r2 = proc_v2(name, &v2, version, flags, &status);
	CUresult r3 = proc_v2(name, &bare, version, flags, NULL);
	Dl_info info;
	char text[200];

	if (!v2 || v2 == (void *)1 || !dladdr(v2, &info))
		info.dli_sname = v2 == (void *)1 ? "untouched" : "NULL";
	snprintf(text, sizeof(text), "%s %s %s, status %d, %s", code(r1), code(r2), code(r3), (int)status,
		 info.dli_sname ? info.dli_sname : "?");
	fact(text, "cuGetProcAddress %s %d %d", name, version, (int)flags);
}

static void procaddr_facts(void)
{
	static const struct {
		const char *name;
		int version;
		unsigned flags;
	} asked[] = {
	    {"cuNoSuchFunction", 12000, 0},
	    {"cuMemAlloc_v2", 12000, 0},
	    {"cuMemAllocManaged", 5000, 0},
	    {"cuMemAlloc", 1000, 0},
	    {"cuMemAlloc", 13010, 0},
	    {"cuMemcpy", 4000, 2},
	    {"cuMemcpy", 6050, 2},
	    {"cuMemcpy", 7000, 1},
	    {"cuMemcpyAsync", 12000, 3},
	    {"cuMemcpyAsync", 12000, 4},
	    {"cuMemcpyHtoD", 4000, 2},
	    {"cuCtxSynchronize", 12080, 0},
	    {"cuGetProcAddress", 11030, 0},
	    {"cuGetProcAddress", 11080, 0},
	    {"cuGetProcAddress", 12000, 0},
	    {"cuGetProcAddress", 13000, 0},
	    {"cuGetProcAddress_v2", 12000, 0},
	    {"cuStreamBeginCapture", 10000, 0},
	    {"cuStreamBeginCapture", 10010, 2},
	    {"cuMemAdvise", 12010, 0},
	    {"cuGraphInstantiate", 11000, 0},
	    {"cuGraphInstantiate", 12000, 0},
	    {"", 12000, 0},
	};

	*(void **)&proc_v1 = dlsym(RTLD_DEFAULT, "cuGetProcAddress");
	*(void **)&proc_v2 = dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row_fact(&rows[i]);
	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		proc_fact(asked[i].name, asked[i].version, asked[i].flags);
}

/* Streams, events, launches, modules: the error codes. */

static void stream_facts(void)
{
	unsigned flags = 77;
	int priority = 77, least, greatest;
	CUstream s;
	CUcontext ctx;
	CUresult r;

	CK(cuCtxGetStreamPriorityRange(&least, &greatest));
	fact(number(least), "least priority");
	fact(number(greatest), "greatest priority");
	CK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -100));
	CK(cuStreamGetPriority(s, &priority));
	fact(number(priority), "priority -100 becomes");
	CK(cuStreamGetFlags(s, &flags));
	fact(number(flags), "flags of a non-blocking stream");
	CK(cuStreamDestroy(s));
	fact(code(cuStreamCreate(&s, 99)), "stream with unknown flags");
	r = cuStreamGetFlags(NULL, &flags);
	fact(r ? code(r) : number(flags), "flags of the null stream");
	r = cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags);
	fact(r ? code(r) : number(flags), "flags of the per-thread stream");
	fact(yes_no(!cuStreamGetCtx(NULL, &ctx) && ctx == tk_context), "context of the null stream is current");
}

static void event_facts(void)
{
	CUevent a, b, untimed;
	float ms = -1;

	CK(cuEventCreate(&a, 0));
	CK(cuEventCreate(&b, 0));
	CK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
	fact(code(cuEventCreate(&b, 0x100)), "event with unknown flags");
	fact(code(cuEventQuery(a)), "asking an unrecorded event");
	fact(code(cuEventSynchronize(a)), "waiting for an unrecorded event");
	fact(code(cuStreamWaitEvent(NULL, a, 0)), "a stream waiting for an unrecorded event");
	fact(code(cuEventElapsedTime(&ms, a, b)), "time between unrecorded events");
	CK(cuEventRecord(a, NULL));
	CK(cuEventRecord(untimed, NULL));
	tk_sync();
	fact(code(cuEventElapsedTime(&ms, a, untimed)), "time to an untimed event");
	tk_spin(NULL, 50);
	CK(cuEventRecord(b, NULL));
	fact(code(cuEventElapsedTime(&ms, a, b)), "time to an event that has not happened");
	tk_sync();
	CK(cuEventElapsedTime(&ms, a, b));
	fact(yes_no(ms > 40 && ms < 500), "a kernel of 50 ms takes about that");
	CK(cuEventDestroy(a));
	CK(cuEventDestroy(b));
	CK(cuEventDestroy(untimed));
}

static CUresult launch_of(CUfunction f)
{
	int ms = 0;

	return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, TK_ARGS(&ms), NULL);
}

static CUresult launch_shape(unsigned blocks, unsigned threads, unsigned shared)
{
	int ms = 0;

	return cuLaunchKernel(tk_kernel("k_spin_ms"), blocks, 1, 1, threads, 1, 1, shared, NULL, TK_ARGS(&ms), NULL);
}

static void launch_facts(void)
{
	CUlibrary library;
	CUkernel kernel;
	CUfunction f;
	CUmodule module;
	const char *name;
	int ms = 0;
	size_t size = sizeof(ms);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &ms, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};

	fact(code(launch_shape(0, 1, 0)), "launch of no blocks");
	fact(code(launch_shape(1, 0, 0)), "launch of no threads");
	fact(code(launch_shape(1, 1025, 0)), "launch of 1025 threads a block");
	fact(code(launch_shape(1, 1, 1 << 20)), "launch with a megabyte of shared memory");
	fact(code(cuLaunchKernel(tk_kernel("k_spin_ms"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra)),
	     "launch with a buffer of arguments");
	fact(code(cuLaunchCooperativeKernel(tk_kernel("k_spin_ms"), 1 << 20, 1, 1, 1024, 1, 1, 0, NULL, TK_ARGS(&ms))),
	     "cooperative launch that is too large");
	fact(code(cuModuleLoad(&module, "/nonexistent")), "loading a module there is not");
	fact(code(cuModuleGetFunction(&f, tk_module, "k_nonexistent")), "function there is not");
	CK(cuFuncGetName(&name, tk_kernel("k_flip")));
	fact(name, "name of a function");
	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, library, "k_spin_ms"));
	CK(cuKernelGetName(&name, kernel));
	fact(name, "name of a kernel");
	fact(code(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, TK_ARGS(&ms), NULL)),
	     "launch of a kernel that is cast to a function");
	CK(cuLibraryGetModule(&module, library));
	CK(cuKernelGetFunction(&f, kernel));
	fact(yes_no(f != (CUfunction)kernel), "a kernel and its function are different handles");
	fact(code(cuModuleUnload(module)), "unloading a library's module");
	tk_sync();
	CK(cuLibraryUnload(library));
}

/* A thread without a context, in a process that has one. */
static void *without_context(void *arg)
{
	struct memory *m = arg;
	size_t a, b;
	unsigned type;
	CUdevice device;
	CUdeviceptr p;
	CUevent event;
	CUipcMemHandle handle;

	fact(code(cuMemAlloc(&p, 16)), "without a context, cuMemAlloc");
	fact(code(cuMemFree(0)), "without a context, cuMemFree(NULL)");
	fact(code(cuMemFree(m->at + 1)), "without a context, cuMemFree of the inside");
	fact(code(cuMemGetInfo(&a, &b)), "without a context, cuMemGetInfo");
	fact(code(cuMemGetAddressRange(&p, &a, m->at)), "without a context, cuMemGetAddressRange");
	fact(code(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m->at)),
	     "without a context, cuPointerGetAttribute");
	fact(code(cuIpcGetMemHandle(&handle, m->at)), "without a context, cuIpcGetMemHandle");
	fact(code(cuCtxGetDevice(&device)), "without a context, cuCtxGetDevice");
	fact(code(cuCtxPopCurrent(NULL)), "without a context, cuCtxPopCurrent");
	fact(code(cuCtxSynchronize()), "without a context, cuCtxSynchronize");
	fact(code(cuStreamSynchronize(NULL)), "without a context, cuStreamSynchronize of the null stream");
	fact(code(cuEventCreate(&event, 0)), "without a context, cuEventCreate");
	fact(code(cuMemcpyHtoD(m->at, &type, 4)), "without a context, copy to device");
	fact(code(cuMemsetD8(m->at, 0, 4)), "without a context, fill");
	return NULL;
}

static void *without_context_handles(void *arg)
{
	CUstream stream = ((void **)arg)[0];
	CUevent event = ((void **)arg)[1];
	CUcontext ctx;

	fact(code(cuStreamSynchronize(stream)), "without a context, cuStreamSynchronize");
	fact(code(cuStreamQuery(stream)), "without a context, cuStreamQuery");
	fact(code(cuEventQuery(event)), "without a context, cuEventQuery");
	fact(code(cuEventSynchronize(event)), "without a context, cuEventSynchronize");
	fact(code(cuEventRecord(event, stream)), "without a context, cuEventRecord");
	fact(code(cuStreamGetCtx(stream, &ctx)), "without a context, cuStreamGetCtx");
	fact(code(cuThreadExchangeStreamCaptureMode(&(CUstreamCaptureMode){0})),
	     "without a context, cuThreadExchangeStreamCaptureMode");
	return NULL;
}

static void contextless_facts(void)
{
	struct memory m = memory_new(DEVICE);
	void *handles[2];
	pthread_t thread;

	CK(cuStreamCreate((CUstream *)&handles[0], CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate((CUevent *)&handles[1], 0));
	REQUIRE(!pthread_create(&thread, NULL, without_context, &m));
	pthread_join(thread, NULL);
	REQUIRE(!pthread_create(&thread, NULL, without_context_handles, handles));
	pthread_join(thread, NULL);
	CK(cuStreamDestroy(handles[0]));
	CK(cuEventDestroy(handles[1]));
	memory_free(&m);
}

/* The facts that need a process of their own. */

static void child_uninitialised(void)
{
	CUdeviceptr p;
	CUcontext ctx;
	const char *name;
	int n;

	fact(code(cuMemAlloc(&p, 16)), "before cuInit, cuMemAlloc");
	fact(code(cuMemFree(0)), "before cuInit, cuMemFree(NULL)");
	fact(code(cuDeviceGetCount(&n)), "before cuInit, cuDeviceGetCount");
	fact(code(cuCtxGetCurrent(&ctx)), "before cuInit, cuCtxGetCurrent");
	fact(code(cuDriverGetVersion(&n)), "before cuInit, cuDriverGetVersion");
	fact(code(cuGetErrorName(CUDA_SUCCESS, &name)), "before cuInit, cuGetErrorName");
	fact(code(cuThreadExchangeStreamCaptureMode(&(CUstreamCaptureMode){0})),
	     "before cuInit, cuThreadExchangeStreamCaptureMode");
	fact(code(cuInit(1)), "cuInit with flags");
	fact(code(cuInit(0)), "cuInit");
	fact(code(cuInit(0)), "cuInit again");
	fact(code(cuDeviceGet(&n, 1000)), "device 1000");
	fact(code(cuDeviceGet(&n, -1)), "device -1");
	fact(code(cuDevicePrimaryCtxRelease(0)), "releasing a context nobody retained");
	fact(code(cuDevicePrimaryCtxReset(0)), "resetting a context nobody retained");
}

static void child_illegal(void)
{
	CUdeviceptr p, bad = 16;
	CUstream s;
	CUevent event;
	CUcontext ctx;
	CUfunction spin;
	size_t a, b;
	unsigned type;
	int value = 1, n;
	void *h;

	tk_start();
	spin = tk_kernel("k_spin_ms");
	CK(cuMemAlloc(&p, 16));
	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate(&event, 0));
	tk_launch(tk_kernel("k_illegal"), 1, 1, s, TK_ARGS(&bad, &value));
	CK(cuEventRecord(event, s));
	fact(code(cuStreamSynchronize(s)), "illegal address, waiting for the stream");
	fact(code(cuEventQuery(event)), "after it, cuEventQuery");
	fact(code(cuStreamQuery(NULL)), "after it, cuStreamQuery of another stream");
	fact(code(cuMemAlloc(&p, 16)), "after it, cuMemAlloc");
	fact(code(cuMemHostAlloc(&h, 16, 0)), "after it, cuMemHostAlloc");
	fact(code(cuMemFree(p)), "after it, cuMemFree");
	fact(code(cuMemFree(0)), "after it, cuMemFree(NULL)");
	fact(code(cuMemGetInfo(&a, &b)), "after it, cuMemGetInfo");
	fact(code(cuMemGetAddressRange(NULL, &a, p)), "after it, cuMemGetAddressRange");
	fact(code(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p)),
	     "after it, cuPointerGetAttribute");
	fact(code(cuMemcpyDtoH(&value, p, 4)), "after it, copy from device");
	fact(code(cuMemsetD8Async(p, 0, 4, NULL)), "after it, async fill");
	fact(code(launch_of(spin)), "after it, launch");
	fact(code(cuCtxSynchronize()), "after it, cuCtxSynchronize");
	fact(code(cuCtxGetCurrent(&ctx)), "after it, cuCtxGetCurrent");
	fact(code(cuCtxGetDevice(&n)), "after it, cuCtxGetDevice");
	fact(code(cuDeviceGetCount(&n)), "after it, cuDeviceGetCount");
	fact(code(cuStreamCreate(&s, 0)), "after it, cuStreamCreate");
	fact(code(cuEventDestroy(event)), "after it, cuEventDestroy");
	fact(code(cuCtxSetCurrent(ctx)), "after it, cuCtxSetCurrent");
	fact(code(cuDevicePrimaryCtxReset(0)), "after it, cuDevicePrimaryCtxReset");
	fact(code(cuMemAlloc(&p, 16)), "after the reset, cuMemAlloc");
	fact(code(cuDevicePrimaryCtxRetain(&ctx, 0)), "after the reset, cuDevicePrimaryCtxRetain");
	fact(code(cuMemAlloc(&p, 16)), "after the reset and retain, cuMemAlloc");
}

static void child_contexts(void)
{
	CUcontext made, current = NULL, again;
	CUdeviceptr p, q;
	unsigned flags;
	int active, before;

	tk_start();
	CK(cuMemAlloc(&q, 16));
	CK(cuDevicePrimaryCtxGetState(0, &flags, &before));
	CK(cuCtxCreate(&made, NULL, 0, tk_device));
	CK(cuMemAlloc(&p, 16));
	fact(code(cuMemFree(q)), "cuMemFree of another context's memory");
	CK(cuCtxDestroy(made));
	CK(cuCtxGetCurrent(&current));
	fact(yes_no(current == tk_context), "after cuCtxDestroy the context below is current");
	fact(code(cuMemFree(p)), "cuMemFree of a destroyed context's memory");
	fact(code(cuCtxSetCurrent(made)), "making a destroyed context current");
	fact(code(cuCtxSetCurrent(tk_context)), "making a living one current");
	fact(number(before), "a retained primary context is active");
	CK(cuMemAlloc(&p, 16));
	fact(code(cuDevicePrimaryCtxReset(0)), "cuDevicePrimaryCtxReset");
	CK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	fact(number(active), "after the reset it is active");
	CK(cuCtxGetCurrent(&current));
	fact(yes_no(current == tk_context), "after the reset it is current");
	fact(code(cuMemFree(p)), "after the reset, cuMemFree of its memory");
	fact(code(cuCtxSynchronize()), "after the reset, cuCtxSynchronize");
	fact(code(cuDevicePrimaryCtxRelease(0)), "after the reset, cuDevicePrimaryCtxRelease");
	fact(code(cuDevicePrimaryCtxRetain(&again, 0)), "after the reset, cuDevicePrimaryCtxRetain");
	fact(yes_no(again == tk_context), "after the reset, it is the same context");
	fact(code(cuMemAlloc(&p, 16)), "after the reset and retain, cuMemAlloc in it");
	fact(code(cuDevicePrimaryCtxRelease(0)), "releasing it for the last time");
	fact(code(cuMemAlloc(&p, 16)), "after the release, cuMemAlloc");
}

static void child_fork(void)
{
	CUdeviceptr p;
	int n;

	tk_start();
	fflush(stdout);
	if (fork()) {
		wait(NULL);
		return;
	}
	fact(code(cuInit(0)), "in a forked child, cuInit");
	fact(code(cuDeviceGetCount(&n)), "in a forked child, cuDeviceGetCount");
	fact(code(cuMemAlloc(&p, 16)), "in a forked child, cuMemAlloc");
	fact(code(cuMemFree(0)), "in a forked child, cuMemFree(NULL)");
	fact(code(cuDriverGetVersion(&n)), "in a forked child, cuDriverGetVersion");
	_exit(0);
}

static CUdeviceptr managed_at_exit;

static void after_the_driver(void)
{
	CUdeviceptr p;
	int n;

	fact(code(cuInit(0)), "after the driver's teardown, cuInit");
	fact(code(cuDeviceGetCount(&n)), "after the driver's teardown, cuDeviceGetCount");
	fact(code(cuMemAlloc(&p, 16)), "after the driver's teardown, cuMemAlloc");
	fact(code(cuMemFree(managed_at_exit)), "after the driver's teardown, cuMemFree");
	fact(number(*(volatile char *)managed_at_exit), "after the driver's teardown, a byte of managed memory is");
}

static void child_exit(void)
{
	atexit(after_the_driver);
	tk_start();
	CK(cuMemAllocManaged(&managed_at_exit, 4096, CU_MEM_ATTACH_GLOBAL));
	*(volatile char *)managed_at_exit = 5;
}

static void call_the_driver(void *result)
{
	*(CUresult *)result = cuMemAlloc(&(CUdeviceptr){0}, 16);
}

static void child_host_function(void)
{
	CUresult inside = CUDA_SUCCESS;

	tk_start();
	CK(cuLaunchHostFunc(NULL, call_the_driver, &inside));
	fact(code(cuCtxSynchronize()), "waiting for a host function that calls the driver");
	fact(code(inside), "cuMemAlloc in a host function");
}

/* The freed range may be reused at once, or not be there any more. */
static void child_freed_managed(void)
{
	CUdeviceptr p;

	tk_start();
	CK(cuMemAllocManaged(&p, 8 << 20, CU_MEM_ATTACH_GLOBAL));
	*(volatile char *)p = 5;
	CK(cuMemFree(p));
	fact(number(*(volatile char *)p), "a byte of freed managed memory is");
}

static void child_freed_pinned(void)
{
	void *p;

	tk_start();
	CK(cuMemHostAlloc(&p, 8 << 20, 0));
	*(volatile char *)p = 5;
	CK(cuMemFreeHost(p));
	fact(number(*(volatile char *)p), "a byte of freed pinned memory is");
}

/* Calls that might crash. */

static void child_null(void)
{
	size_t bytes;
	CUdeviceptr p;

	tk_start();
	CK(cuMemAlloc(&p, 16));
	fact(code(cuMemGetAddressRange(NULL, NULL, p)), "cuMemGetAddressRange without outputs");
	fact(code(cuMemGetInfo(NULL, &bytes)), "cuMemGetInfo without free");
	fact(code(cuStreamDestroy(NULL)), "destroying the null stream");
	fact(code(cuStreamDestroy(CU_STREAM_PER_THREAD)), "destroying the per-thread stream");
	fact(code(launch_of(NULL)), "launch of no kernel");
	fact(code(cuLaunchHostFunc(NULL, NULL, NULL)), "launch of no host function");
	fact(code(cuEventQuery(NULL)), "asking no event");
	fact(code(cuEventDestroy(NULL)), "destroying no event");
	fact(code(cuModuleUnload(NULL)), "unloading no module");
	fact(code(cuCtxDestroy(NULL)), "destroying no context");
	fact(code(cuGraphDestroy(NULL)), "destroying no graph");
}

static void child_null_copy(void)
{
	char bytes[16] = "";
	CUdeviceptr p;

	tk_start();
	CK(cuMemAlloc(&p, 16));
	fact(code(cuMemcpyHtoD(0, bytes, 16)), "copy to NULL");
	fact(code(cuMemsetD8(0, 0, 16)), "fill of NULL");
	fact(code(cuMemcpyDtoH(bytes, 0, 16)), "copy from NULL");
	fact(code(cuMemcpyHtoD((CUdeviceptr)bytes, bytes, 16)), "copy to device that is a local variable");
	fact(code(cuMemcpyDtoD(p, (CUdeviceptr)bytes, 16)), "copy from device that is a local variable");
	fact(code(cuMemcpyHtoD(p, NULL, 16)), "copy from a host pointer that is NULL");
}

static void child_kernel_name(void)
{
	CUlibrary library;
	CUkernel kernel;
	const char *name;

	tk_start();
	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, library, "k_spin_ms"));
	fact(code(cuFuncGetName(&name, (CUfunction)kernel)), "name of a kernel that is cast to a function");
}

static const struct {
	const char *name;
	void (*run)(void);
} children[] = {
    {"uninitialised", child_uninitialised},
    {"illegal", child_illegal},
    {"contexts", child_contexts},
    {"fork", child_fork},
    {"exit", child_exit},
    {"host-function", child_host_function},
    {"freed-managed", child_freed_managed},
    {"freed-pinned", child_freed_pinned},
    {"null", child_null},
    {"null-copy", child_null_copy},
    {"kernel-name", child_kernel_name},
};

static void run_child(const char *name)
{
	char *argv[] = {"conformance", (char *)name, NULL};
	char how[40];
	int status = 0;
	pid_t pid;

	fflush(stdout);
	REQUIRE(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ));
	waitpid(pid, &status, 0);
	snprintf(how, sizeof(how), WIFSIGNALED(status) ? "signal %d" : "status %d",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fact(how, "the process '%s' ended with", name);
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc > 1 && i < sizeof(children) / sizeof(children[0]); i++)
		if (!strcmp(children[i].name, argv[1])) {
			children[i].run();
			return 0;
		}
	tk_start();
	procaddr_facts();
	stream_facts();
	event_facts();
	launch_facts();
	memory_facts();
	query_facts();
	contextless_facts();
	wait_facts();
	capture_facts();
	graph_facts();
	for (unsigned i = 0; i < sizeof(children) / sizeof(children[0]); i++)
		run_child(children[i].name);
	return 0;
}
