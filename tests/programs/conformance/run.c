/* Streams, events, launches, modules, threads without a context: the error codes. */
#include "conformance.h"

void stream_facts(void)
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

void event_facts(void)
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

static CUresult launch_shape(unsigned blocks, unsigned threads, unsigned shared)
{
	int ms = 0;

	return cuLaunchKernel(tk_kernel("k_spin_ms"), blocks, 1, 1, threads, 1, 1, shared, NULL, TK_ARGS(&ms), NULL);
}

void launch_facts(void)
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
	fact(code(cuMemFree(m->at)), "without a context, cuMemFree");
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

void contextless_facts(void)
{
	struct memory m = memory_new(DEVICE);
	void *handles[2];

	CK(cuStreamCreate((CUstream *)&handles[0], CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate((CUevent *)&handles[1], 0));
	tk_in_a_thread(without_context, &m);
	tk_in_a_thread(without_context_handles, handles);
	CK(cuStreamDestroy(handles[0]));
	CK(cuEventDestroy(handles[1]));
	cuMemFree(m.at); /* unless it was freed there */
}
