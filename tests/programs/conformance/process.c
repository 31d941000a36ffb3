/* The facts that need a process of their own: each ends it, or its context. */
#include "conformance.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

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

static CUresult launch_of(CUfunction f)
{
	int ms = 0;

	return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, TK_ARGS(&ms), NULL);
}

static void child_illegal(void)
{
	CUdeviceptr bad = 16;
	CUevent event;
	CUcontext ctx;
	size_t a, b;
	unsigned type;
	int value = 1, n;
	void *h;
	CUfunction spin = tk_kernel("k_spin_ms");
	CUdeviceptr p = tk_alloc(16);
	CUstream s = tk_stream();

	CK(cuEventCreate(&event, 0));
	tk_spin(s, 50); /* the fault comes after the record */
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

/* What can still be done about memory of every kind, and what is known of it. */
static void child_illegal_memory(void)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr failed = 77, bad = 16;
	unsigned type;
	int value = 1;
	CUdeviceptr p = tk_alloc(16);
	struct memory registered = memory_new(REGISTERED);
	struct mapped m = mapped_open(0);

	tk_launch(tk_kernel("k_illegal"), 1, 1, NULL, TK_ARGS(&bad, &value));
	fact(code(cuCtxSynchronize()), "illegal address, waiting for the context");
	fact(code(cuMemAlloc(&failed, 16)), "after it, cuMemAlloc");
	fact(number((long long)failed), "after it, cuMemAlloc of 77 made it");
	fact(code(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p)),
	     "after it, attribute of device memory");
	fact(code(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m.at)),
	     "after it, attribute of a mapping");
	fact(code(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, registered.at)),
	     "after it, attribute of registered memory");
	fact(code(cuMemHostUnregister(registered.own)), "after it, cuMemHostUnregister");
	fact(code(cuMemUnmap(m.at, m.piece)), "after it, cuMemUnmap");
	fact(code(cuMemRelease(m.handle)), "after it, cuMemRelease");
	fact(code(cuMemAddressFree(m.base, 3 * m.piece)), "after it, cuMemAddressFree");
	fact(code(create_physical(&handle, m.piece, 0)), "after it, cuMemCreate");
	fact(code(cuMemAddressReserve(&p, m.piece, 0, 0, 0)), "after it, cuMemAddressReserve");
	fact(code(cuCtxCreate(&tk_context, NULL, 0, tk_device)), "after it, cuCtxCreate");
}

/* In a context that is good: the mapping and what it held. */
static void mapping_survives(const struct mapped *m, const char *what)
{
	unsigned char byte = 0;
	CUresult r = cuMemcpyDtoH(&byte, m->at + 100, 1);

	fact(r ? code(r) : number(byte), "after %s, a byte of a mapping is", what);
	fact(code(cuMemsetD8(m->at, 6, m->piece)), "after %s, fill of a mapping", what);
	fact(code(cuCtxSynchronize()), "after %s and that, cuCtxSynchronize", what);
	fact(code(cuMemUnmap(m->at, m->piece)), "after %s, cuMemUnmap", what);
	fact(code(cuMemRelease(m->handle)), "after %s, cuMemRelease", what);
}

static void child_memory_after_destroy(void)
{
	struct memory registered;
	struct mapped m;
	CUcontext made;

	CK(cuCtxCreate(&made, NULL, 0, tk_device));
	registered = memory_new(REGISTERED);
	m = mapped_open(0);
	CK(cuMemsetD8(m.at, 5, m.piece));
	CK(cuCtxSynchronize());
	CK(cuCtxDestroy(made));
	fact(code(cuMemHostUnregister(registered.own)), "after cuCtxDestroy, cuMemHostUnregister of its memory");
	mapping_survives(&m, "cuCtxDestroy");
}

static void child_memory_after_reset(void)
{
	struct memory registered = memory_new(REGISTERED);
	struct mapped m = mapped_open(0);

	CK(cuMemsetD8(m.at, 5, m.piece));
	tk_sync();
	CK(cuDevicePrimaryCtxReset(tk_device));
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	fact(code(cuMemHostUnregister(registered.own)), "after the reset, cuMemHostUnregister of its memory");
	mapping_survives(&m, "the reset");
}

static void child_contexts(void)
{
	CUcontext made, current = NULL, again;
	CUstream stream;
	CUdevice device;
	CUdeviceptr p, q;
	unsigned flags;
	int active, before;

	CK(cuMemAlloc(&q, 16));
	CK(cuDevicePrimaryCtxGetState(0, &flags, &before));
	CK(cuCtxCreate(&made, NULL, 0, tk_device));
	CK(cuMemAlloc(&p, 16));
	fact(code(cuMemFree(q)), "cuMemFree of another context's memory");
	CK(cuCtxDestroy(made));
	CK(cuCtxGetCurrent(&current));
	fact(yes_no(current == tk_context), "after cuCtxDestroy the context below is current");
	fact(code(cuMemFree(p)), "cuMemFree of a destroyed context's memory");
	fact(number(before), "a retained primary context is active");
	CK(cuMemAlloc(&p, 16));
	fact(code(cuDevicePrimaryCtxReset(0)), "cuDevicePrimaryCtxReset");
	CK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	fact(number(active), "after the reset it is active");
	CK(cuCtxGetCurrent(&current));
	fact(yes_no(current == tk_context), "after the reset it is current");
	fact(code(cuMemFree(p)), "after the reset, cuMemFree of its memory");
	fact(code(cuCtxSynchronize()), "after the reset, cuCtxSynchronize");
	fact(code(cuCtxGetDevice(&device)), "after the reset, cuCtxGetDevice");
	fact(code(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0)),
	     "after the reset, cuStreamCreateWithPriority");
	fact(code(cuDevicePrimaryCtxRelease(0)), "after the reset, cuDevicePrimaryCtxRelease");
	fact(code(cuDevicePrimaryCtxRetain(&again, 0)), "after the reset, cuDevicePrimaryCtxRetain");
	fact(yes_no(again == tk_context), "after the reset, it is the same context");
	fact(code(cuMemAlloc(&p, 16)), "after the reset and retain, cuMemAlloc in it");
	fact(code(cuDevicePrimaryCtxRelease(0)), "releasing it for the last time");
	fact(code(cuMemAlloc(&p, 16)), "after the release, cuMemAlloc");
}

/* And nothing after it: whatever the driver does with the context then is undefined (it was seen to abort). */
static void child_destroyed_context(void)
{
	CUcontext made;

	CK(cuCtxCreate(&made, NULL, 0, tk_device));
	CK(cuCtxDestroy(made));
	fact(code(cuCtxSetCurrent(made)), "making a destroyed context current");
	_exit(0);
}

static void child_fork(void)
{
	CUdeviceptr p;
	int n;

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
static void *pinned_at_exit;

/* The driver does not say the names of errors any more either. */
static void fact_at_exit(CUresult r, const char *call)
{
	fact(code(r), "after the driver's teardown, %s", call);
	fact(number(r), "after the driver's teardown, %s, as a number", call);
}

static void after_the_driver(void)
{
	CUdeviceptr p;
	int n;

	fact_at_exit(cuInit(0), "cuInit");
	fact_at_exit(cuDeviceGetCount(&n), "cuDeviceGetCount");
	fact_at_exit(cuMemAlloc(&p, 16), "cuMemAlloc");
	fact_at_exit(cuMemFree(managed_at_exit), "cuMemFree");
	fact(number(*(volatile char *)managed_at_exit), "after the driver's teardown, a byte of managed memory is");
	fact(number(*(volatile char *)pinned_at_exit), "after the driver's teardown, a byte of pinned memory is");
}

static void child_exit(void)
{
	atexit(after_the_driver);
	tk_start();
	CK(cuMemAllocManaged(&managed_at_exit, 4096, CU_MEM_ATTACH_GLOBAL));
	*(volatile char *)managed_at_exit = 5;
	CK(cuMemHostAlloc(&pinned_at_exit, 4096, 0));
	*(volatile char *)pinned_at_exit = 6;
}

static void call_the_driver(void *result)
{
	*(CUresult *)result = cuMemAlloc(&(CUdeviceptr){0}, 16);
}

static void child_host_function(void)
{
	CUresult inside = CUDA_SUCCESS;

	CK(cuLaunchHostFunc(NULL, call_the_driver, &inside));
	fact(code(cuCtxSynchronize()), "waiting for a host function that calls the driver");
	fact(code(inside), "cuMemAlloc in a host function");
}

/* The freed range may be reused at once, or not be there any more. */
static void child_freed_managed(void)
{
	CUdeviceptr p;

	CK(cuMemAllocManaged(&p, 8 << 20, CU_MEM_ATTACH_GLOBAL));
	*(volatile char *)p = 5;
	CK(cuMemFree(p));
	fact(number(*(volatile char *)p), "a byte of freed managed memory is");
}

static void child_freed_pinned(void)
{
	void *p;

	CK(cuMemHostAlloc(&p, 8 << 20, 0));
	*(volatile char *)p = 5;
	CK(cuMemFreeHost(p));
	fact(number(*(volatile char *)p), "a byte of freed pinned memory is");
}

/* Calls that might crash. */

static void child_null(void)
{
	size_t bytes;
	CUdeviceptr p = tk_alloc(16);

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
	CUdeviceptr p = tk_alloc(16);

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

	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, library, "k_spin_ms"));
	fact(code(cuFuncGetName(&name, (CUfunction)kernel)), "name of a kernel that is cast to a function");
}

/* Of one that is running. */
static void child_library_unloaded(void)
{
	CUlibrary library;
	CUmodule module;
	double start;
	const int ms = 200;

	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetModule(&module, library));
	keep_busy(module, ms);
	start = tk_ms();
	fact(code(cuLibraryUnload(library)), "cuLibraryUnload while a kernel of it runs");
	fact(yes_no(tk_ms() - start > ms / 2.0), "cuLibraryUnload waits for a kernel of its own");
	fact(code(cuCtxSynchronize()), "after it, cuCtxSynchronize");
}

/* In a capture, which forbids it. */
static void child_unload_refused(void)
{
	CUfunction f;
	CUgraph graph;
	int ms = 1;
	CUmodule module = tk_load_kernels();
	CUstream s = tk_stream();

	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	fact(code(cuModuleUnload(module)), "cuModuleUnload in a capture");
	fact(code(cuStreamEndCapture(s, &graph)), "after it, cuStreamEndCapture");
	fact(code(cuModuleGetFunction(&f, module, "k_spin_ms")), "after it, cuModuleGetFunction");
	fact(code(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, TK_ARGS(&ms), NULL)), "after it, a launch");
	fact(code(cuCtxSynchronize()), "after it, cuCtxSynchronize");
	fact(code(cuModuleUnload(module)), "after it, cuModuleUnload");
}

/* What the driver does not check the device runs into. */
static void child_memop_arguments(void)
{
	static unsigned plain[16];
	CUstreamBatchMemOpParams op = {0};
	CUdeviceptr nobodys = (CUdeviceptr)plain;
	struct memory m = memory_new(DEVICE);

	CK(cuMemsetD8(m.at, 0, 64));
	fact(code(cuStreamWriteValue32(NULL, m.at + 2, 1, 0)), "cuStreamWriteValue32, not aligned");
	fact(code(cuStreamWriteValue64(NULL, m.at + 4, 1, 0)), "cuStreamWriteValue64, not aligned");
	fact(code(cuStreamWriteValue32(NULL, m.at, 1, 2)), "cuStreamWriteValue32 with unknown flags");
	fact(code(cuStreamWaitValue32(NULL, m.at, 0, 4)), "cuStreamWaitValue32 with unknown flags");
	fact(code(cuStreamWriteValue32(NULL, nobodys, 1, 0)), "cuStreamWriteValue32 of unknown memory");
	fact(code(cuStreamWaitValue32(NULL, nobodys, 0, 0)), "cuStreamWaitValue32 of unknown memory");
	fact(code(cuStreamBatchMemOp(NULL, 0, &op, 0)), "cuStreamBatchMemOp of nothing");
	op.operation = 99;
	fact(code(cuStreamBatchMemOp(NULL, 1, &op, 0)), "cuStreamBatchMemOp of no kind");
	fact(code(cuStreamWriteValue32(NULL, m.at + m.size, 1, 0)), "cuStreamWriteValue32 behind device memory");
	fact(code(cuCtxSynchronize()), "after all these, cuCtxSynchronize");
}

static const struct {
	const char *name;
	void (*run)(void);
	int started; /* by be_child() */
} children[] = {
    {"uninitialised", child_uninitialised, 0},
    {"illegal", child_illegal, 1},
    {"illegal-memory", child_illegal_memory, 1},
    {"contexts", child_contexts, 1},
    {"memory-after-destroy", child_memory_after_destroy, 1},
    {"memory-after-reset", child_memory_after_reset, 1},
    {"destroyed-context", child_destroyed_context, 1},
    {"fork", child_fork, 1},
    {"exit", child_exit, 0},
    {"host-function", child_host_function, 1},
    {"freed-managed", child_freed_managed, 1},
    {"freed-pinned", child_freed_pinned, 1},
    {"null", child_null, 1},
    {"null-copy", child_null_copy, 1},
    {"kernel-name", child_kernel_name, 1},
    {"library-unloaded", child_library_unloaded, 1},
    {"unload-refused", child_unload_refused, 1},
    {"memop-arguments", child_memop_arguments, 1},
    {"green-alone", child_green_alone, 0},
    {"access-own", child_access_own, 1},
    {"access-registered", child_access_registered, 1},
    {"access-freed", child_access_freed, 1},
    {"access-freed-large", child_access_freed_large, 1},
    {"access-before", child_access_before, 1},
    {"access-peer", child_access_peer, 1},
    {"access-mapping", child_access_mapping, 1},
    {"access-forked", child_access_forked, 1},
    {"access-trimmed", child_access_trimmed, 1},
    {"fill-trimmed", child_fill_trimmed, 1},
    {"pool-destroyed", child_pool_destroyed, 1},
    {"pool-exported", child_pool_exported, 1},
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

int be_child(const char *name)
{
	alarm(30); /* a stream may wait for what never comes */
	for (unsigned i = 0; i < sizeof(children) / sizeof(children[0]); i++)
		if (!strcmp(children[i].name, name)) {
			if (children[i].started)
				tk_start();
			children[i].run();
			return 0;
		}
	return TK_FAILED;
}

void process_facts(void)
{
	for (unsigned i = 0; i < sizeof(children) / sizeof(children[0]); i++)
		run_child(children[i].name);
}
