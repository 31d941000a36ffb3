/* Which calls wait for work that is running, told by the time they take beside a kernel of 100 ms. */
#ifndef GMOD_CONFORMANCE_WAIT_H
#define GMOD_CONFORMANCE_WAIT_H

#include "conformance.h"

#define BUSY_MS 100

struct scene {
	CUstream busy, other; /* non-blocking; the kernel runs on busy, or where the fact says */
	struct memory device, managed, pinned, pool;
	char *plain;
	CUmodule module;
	CUcontext context;
	CUarray array;
	CUevent event;
	CUgraphExec exec;
};

static char to_register[8192] __attribute__((aligned(4096)));

static CUarray new_array(void)
{
	CUDA_ARRAY_DESCRIPTOR desc = {.Width = 64, .Height = 0, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
	CUarray array;

	CK(cuArrayCreate(&array, &desc));
	return array;
}

static CUgraphExec new_exec(void)
{
	CUgraph graph;
	CUgraphExec exec;
	CUgraphNode node;

	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphDestroy(graph));
	return exec;
}

static void scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	CK(cuStreamCreate(&s->busy, CU_STREAM_NON_BLOCKING));
	CK(cuStreamCreate(&s->other, CU_STREAM_NON_BLOCKING));
	s->device = memory_new(DEVICE);
	s->managed = memory_new(MANAGED);
	s->pinned = memory_new(PINNED);
	s->pool = memory_new(POOL);
	s->plain = calloc(1, 1000);
	s->module = tk_load_kernels();
	s->array = new_array();
	CK(cuEventCreate(&s->event, 0));
	s->exec = new_exec();
	tk_sync();
}

/* What the fact gave away is NULL by now. */
static void scene_close(struct scene *s)
{
	tk_sync();
	if (s->device.at)
		memory_free(&s->device);
	if (s->managed.at)
		memory_free(&s->managed);
	if (s->pinned.at)
		memory_free(&s->pinned);
	if (s->pool.at)
		memory_free(&s->pool);
	if (s->module)
		CK(cuModuleUnload(s->module));
	if (s->array)
		CK(cuArrayDestroy(s->array));
	if (s->event)
		CK(cuEventDestroy(s->event));
	if (s->exec)
		CK(cuGraphExecDestroy(s->exec));
	cuMemHostUnregister(to_register);
	CK(cuStreamDestroy(s->other));
	if (s->busy)
		CK(cuStreamDestroy(s->busy));
	free(s->plain);
	tk_sync();
}

/* Each of these is one call. */

static CUresult free_device(struct scene *s)
{
	CUdeviceptr p = s->device.at;

	s->device.at = 0;
	return cuMemFree(p);
}

static CUresult free_managed(struct scene *s)
{
	CUdeviceptr p = s->managed.at;

	s->managed.at = 0;
	return cuMemFree(p);
}

static CUresult free_pinned(struct scene *s)
{
	void *p = (void *)s->pinned.at;

	s->pinned.at = 0;
	return cuMemFreeHost(p);
}

static CUresult free_pool(struct scene *s)
{
	CUdeviceptr p = s->pool.at;

	s->pool.at = 0;
	return cuMemFree(p);
}

static CUresult free_async(struct scene *s)
{
	CUdeviceptr p = s->pool.at;

	s->pool.at = 0;
	return cuMemFreeAsync(p, s->busy);
}

static CUresult alloc_device(struct scene *s)
{
	return cuMemAlloc(&s->device.at, 1000);
}

static CUresult alloc_large(struct scene *s)
{
	return cuMemAlloc(&s->device.at, 64 << 20);
}

static CUresult alloc_managed(struct scene *s)
{
	return cuMemAllocManaged(&s->managed.at, 1000, CU_MEM_ATTACH_GLOBAL);
}

static CUresult alloc_pinned(struct scene *s)
{
	return cuMemHostAlloc((void **)&s->pinned.at, 1000, 0);
}

static CUresult alloc_pool(struct scene *s)
{
	return cuMemAllocAsync(&s->pool.at, 1000, s->other);
}

static CUresult advise(struct scene *s)
{
	return cuMemAdvise(s->managed.at, 1000, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
			   (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, tk_device});
}

static CUresult prefetch(struct scene *s)
{
	return cuMemPrefetchAsync(s->managed.at, 1000, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, tk_device}, 0,
				  s->other);
}

static CUresult copy_to(struct scene *s)
{
	return cuMemcpyHtoD(s->device.at, s->plain, 1000);
}

static CUresult copy_to_from_pinned(struct scene *s)
{
	return cuMemcpyHtoD(s->device.at, (void *)s->pinned.at, 1000);
}

static CUresult copy_from(struct scene *s)
{
	return cuMemcpyDtoH(s->plain, s->device.at, 1000);
}

static CUresult copy_between(struct scene *s)
{
	return cuMemcpyDtoD(s->device.at, s->device.at + 500, 500);
}

static CUresult copy_between_managed(struct scene *s)
{
	return cuMemcpyDtoD(s->managed.at, s->managed.at + 500, 500);
}

static CUresult copy_managed_to_plain(struct scene *s)
{
	return cuMemcpyDtoH(s->plain, s->managed.at, 1000);
}

static CUresult copy_async_to(struct scene *s)
{
	return cuMemcpyHtoDAsync(s->device.at, s->plain, 1000, s->busy);
}

static CUresult copy_async_from(struct scene *s)
{
	return cuMemcpyDtoHAsync(s->plain, s->device.at, 1000, s->busy);
}

static CUresult copy_async_from_to_pinned(struct scene *s)
{
	return cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->busy);
}

static CUresult copy_async_elsewhere(struct scene *s)
{
	return cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->other);
}

static CUresult fill_device(struct scene *s)
{
	return cuMemsetD8(s->device.at, 1, 1000);
}

static CUresult fill_managed(struct scene *s)
{
	return cuMemsetD8(s->managed.at, 1, 1000);
}

static CUresult fill_pinned(struct scene *s)
{
	return cuMemsetD8(s->pinned.at, 1, 1000);
}

static CUresult fill_async(struct scene *s)
{
	return cuMemsetD8Async(s->device.at, 1, 1000, s->busy);
}

static CUresult sync_null(struct scene *s)
{
	(void)s;
	return cuStreamSynchronize(NULL);
}

static CUresult sync_other(struct scene *s)
{
	return cuStreamSynchronize(s->other);
}

static CUresult sync_per_thread(struct scene *s)
{
	(void)s;
	return cuStreamSynchronize(CU_STREAM_PER_THREAD);
}

static CUresult query_null(struct scene *s)
{
	CUresult r = cuStreamQuery(NULL);

	(void)s;
	return r == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : r;
}

static CUresult unload(struct scene *s)
{
	CUmodule module = s->module;

	s->module = NULL;
	return cuModuleUnload(module);
}

static CUresult destroy_stream(struct scene *s)
{
	CUstream stream = s->busy;

	s->busy = NULL;
	return cuStreamDestroy(stream);
}

static CUresult destroy_array(struct scene *s)
{
	CUarray array = s->array;

	s->array = NULL;
	return cuArrayDestroy(array);
}

static CUresult destroy_event(struct scene *s)
{
	CUevent event = s->event;

	s->event = NULL;
	return cuEventDestroy(event);
}

static CUresult destroy_exec(struct scene *s)
{
	CUgraphExec exec = s->exec;

	s->exec = NULL;
	return cuGraphExecDestroy(exec);
}

static CUresult record_and_wait(struct scene *s)
{
	CUresult r = cuEventRecord(s->event, s->busy);

	return r ? r : cuEventSynchronize(s->event);
}

static CUresult wait_event_elsewhere(struct scene *s)
{
	CUresult r = cuEventRecord(s->event, s->busy);

	return r ? r : cuStreamWaitEvent(s->other, s->event, 0);
}

static CUresult load_module(struct scene *s)
{
	CK(cuModuleUnload(s->module));
	s->module = tk_load_kernels();
	return CUDA_SUCCESS;
}

static CUresult host_register(struct scene *s)
{
	(void)s;
	return cuMemHostRegister(to_register, sizeof(to_register), 0);
}

static CUresult mem_info(struct scene *s)
{
	size_t a, b;

	(void)s;
	return cuMemGetInfo(&a, &b);
}

struct wait_fact {
	const char *name;
	CUresult (*call)(struct scene *);
	enum { ON_BUSY, ON_NULL, ON_BLOCKING, ON_PER_THREAD } where;
	enum kind take; /* KINDS, or what to free first so that the call can allocate it */
};

/* The kernel must really have started: a launch alone may be put off. */
static void start_kernel(CUstream stream)
{
	tk_spin(stream, BUSY_MS);
	tk_sleep_ms(5);
}

static CUstream stream_for(const struct wait_fact *f, const struct scene *s)
{
	CUstream stream = s->busy;

	if (f->where == ON_BLOCKING)
		CK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
	if (f->where == ON_NULL)
		stream = NULL;
	if (f->where == ON_PER_THREAD)
		stream = CU_STREAM_PER_THREAD;
	return stream;
}

static void make_room(struct scene *s, enum kind kind)
{
	struct memory *m = kind == DEVICE    ? &s->device
			   : kind == MANAGED ? &s->managed
			   : kind == PINNED  ? &s->pinned
					     : &s->pool;

	if (kind == KINDS)
		return;
	memory_free(m);
	m->at = 0;
}

static void measure(const struct wait_fact *f)
{
	static const char *const where[] = {"a kernel on another stream", "a kernel on the null stream",
					    "a kernel on a blocking stream", "a kernel on the per-thread stream"};
	struct scene s;
	CUstream stream;
	double start, took;
	CUresult r;

	scene_open(&s);
	make_room(&s, f->take);
	stream = stream_for(f, &s);
	tk_sync();
	start_kernel(stream);
	start = tk_ms();
	r = f->call(&s);
	took = tk_ms() - start;
	tk_sync();
	fact(r ? code(r) : yes_no(took > BUSY_MS / 2), "%s waits for %s", f->name, where[f->where]);
	if (f->where == ON_BLOCKING)
		CK(cuStreamDestroy(stream));
	scene_close(&s);
}

static const struct wait_fact wait_table[] = {
    {"cuMemFree of device memory", free_device, ON_BUSY, KINDS},
    {"cuMemFree of managed memory", free_managed, ON_BUSY, KINDS},
    {"cuMemFree of pool memory", free_pool, ON_BUSY, KINDS},
    {"cuMemFreeHost", free_pinned, ON_BUSY, KINDS},
    {"cuMemFreeAsync", free_async, ON_BUSY, KINDS},
    {"cuMemAlloc", alloc_device, ON_BUSY, DEVICE},
    {"cuMemAlloc of 64 MiB", alloc_large, ON_BUSY, DEVICE},
    {"cuMemAllocManaged", alloc_managed, ON_BUSY, MANAGED},
    {"cuMemHostAlloc", alloc_pinned, ON_BUSY, PINNED},
    {"cuMemAllocAsync", alloc_pool, ON_BUSY, POOL},
    {"cuMemAdvise", advise, ON_BUSY, KINDS},
    {"cuMemPrefetchAsync", prefetch, ON_BUSY, KINDS},
    {"cuMemGetInfo", mem_info, ON_BUSY, KINDS},
    {"cuModuleUnload", unload, ON_BUSY, KINDS},
    {"cuModuleUnload and cuModuleLoad", load_module, ON_BUSY, KINDS},
    {"cuStreamDestroy", destroy_stream, ON_BUSY, KINDS},
    {"cuArrayDestroy", destroy_array, ON_BUSY, KINDS},
    {"cuEventDestroy", destroy_event, ON_BUSY, KINDS},
    {"cuGraphExecDestroy", destroy_exec, ON_BUSY, KINDS},
    {"cuEventSynchronize", record_and_wait, ON_BUSY, KINDS},
    {"cuStreamWaitEvent", wait_event_elsewhere, ON_BUSY, KINDS},
    {"copy to device", copy_to, ON_BUSY, KINDS},
    {"copy from device", copy_from, ON_BUSY, KINDS},
    {"async copy on that stream from pageable memory", copy_async_to, ON_BUSY, KINDS},
    {"async copy on that stream to pageable memory", copy_async_from, ON_BUSY, KINDS},
    {"async copy on that stream to pinned memory", copy_async_from_to_pinned, ON_BUSY, KINDS},
    {"async copy on a third stream", copy_async_elsewhere, ON_BUSY, KINDS},
    {"async fill on that stream", fill_async, ON_BUSY, KINDS},
    {"fill of device memory", fill_device, ON_BUSY, KINDS},
    {"synchronising the null stream", sync_null, ON_BUSY, KINDS},
    {"copy to device", copy_to, ON_NULL, KINDS},
    {"copy to device from pinned memory", copy_to_from_pinned, ON_NULL, KINDS},
    {"copy from device", copy_from, ON_NULL, KINDS},
    {"copy from managed memory", copy_managed_to_plain, ON_NULL, KINDS},
    {"copy between devices", copy_between, ON_NULL, KINDS},
    {"copy within managed memory", copy_between_managed, ON_NULL, KINDS},
    {"fill of device memory", fill_device, ON_NULL, KINDS},
    {"fill of managed memory", fill_managed, ON_NULL, KINDS},
    {"fill of pinned memory", fill_pinned, ON_NULL, KINDS},
    {"synchronising a non-blocking stream", sync_other, ON_NULL, KINDS},
    {"synchronising the null stream", sync_null, ON_BLOCKING, KINDS},
    {"asking the null stream", query_null, ON_BLOCKING, KINDS},
    {"copy to device", copy_to, ON_BLOCKING, KINDS},
    {"copy to device", copy_to, ON_PER_THREAD, KINDS},
    {"synchronising the per-thread stream", sync_per_thread, ON_BLOCKING, KINDS},
    {"synchronising the per-thread stream", sync_per_thread, ON_NULL, KINDS},
    {"cuMemHostRegister", host_register, ON_BUSY, KINDS},
};

/* What asking says while it runs. */
static void readiness(void)
{
	CUstream blocking, other;

	CK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	start_kernel(blocking);
	fact(code(cuStreamQuery(blocking)), "asking a busy stream");
	fact(code(cuStreamQuery(NULL)), "asking the null stream beside a busy blocking stream");
	fact(code(cuStreamQuery(other)), "asking an idle stream beside it");
	tk_sync();
	start_kernel(other);
	fact(code(cuStreamQuery(NULL)), "asking the null stream beside a busy non-blocking stream");
	tk_sync();
	start_kernel(NULL);
	fact(code(cuStreamQuery(blocking)), "asking a blocking stream beside the busy null stream");
	tk_spin(blocking, 1);
	fact(code(cuStreamQuery(blocking)), "asking it with work that waits for the null stream");
	tk_sync();
	CK(cuStreamDestroy(blocking));
	CK(cuStreamDestroy(other));
}

/* A free in one context while a kernel of another context runs. */
static void other_context(void)
{
	CUcontext other;
	CUdeviceptr p;
	double start;

	CK(cuCtxCreate(&other, NULL, 0, tk_device));
	CK(cuMemAlloc(&p, 1000));
	CK(cuCtxSetCurrent(tk_context));
	start_kernel(NULL);
	CK(cuCtxSetCurrent(other));
	start = tk_ms();
	CK(cuMemFree(p));
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuMemFree waits for a kernel of another context");
	CK(cuCtxSetCurrent(tk_context));
	tk_sync();
	CK(cuCtxDestroy(other));
	CK(cuCtxSetCurrent(tk_context));
}

static void destroy_busy_context(void)
{
	CUcontext other;
	CUmodule module;
	double start;
	int ms = BUSY_MS;

	CK(cuCtxCreate(&other, NULL, 0, tk_device));
	module = tk_load_kernels();
	tk_launch(tk_kernel_of(module, "k_spin_ms"), 1, 1, NULL, TK_ARGS(&(int){1}));
	tk_sync();
	tk_launch(tk_kernel_of(module, "k_spin_ms"), 1, 1, NULL, TK_ARGS(&ms));
	tk_sleep_ms(5);
	start = tk_ms();
	CK(cuCtxDestroy(other));
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuCtxDestroy waits for its kernels");
	CK(cuCtxSetCurrent(tk_context));
}

static void wait_facts(void)
{
	tk_spin(NULL, 1); /* loading the kernel is not what is measured */
	tk_sync();
	for (unsigned i = 0; i < sizeof(wait_table) / sizeof(wait_table[0]); i++)
		measure(&wait_table[i]);
	readiness();
	other_context();
	destroy_busy_context();
}

#endif
