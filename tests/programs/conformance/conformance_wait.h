/* Which calls wait for work that is running, told by the time they take beside a kernel of 100 ms. */
#ifndef GMOD_CONFORMANCE_WAIT_H
#define GMOD_CONFORMANCE_WAIT_H

#include "conformance_wait_calls.h"

#define BUSY_MS 100

struct wait_fact {
	const char *name;
	CUresult (*call)(struct scene *);
	enum { ON_BUSY, ON_NULL, ON_BLOCKING, ON_PER_THREAD } where;
	enum kind
	    take; /* KINDS, or what to free first so that the call can allocate it; REGISTERED: to register first */
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
	if (kind == REGISTERED) {
		CK(cuMemHostRegister(to_register, sizeof(to_register), 0));
		return;
	}
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
    {"cuMemHostUnregister", host_unregister, ON_BUSY, REGISTERED},
    {"cuMemCreate", create, ON_BUSY, KINDS},
    {"cuMemMap", map, ON_BUSY, KINDS},
    {"cuMemSetAccess", set_access, ON_BUSY, KINDS},
    {"cuMemMap and cuMemSetAccess", map_and_set_access, ON_BUSY, KINDS},
    {"cuMemRelease", release, ON_BUSY, KINDS},
    {"cuMemUnmap", unmap, ON_BUSY, KINDS},
    {"copy from managed to device memory", copy_managed_to_device, ON_NULL, KINDS},
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
	double start;

	CK(cuCtxCreate(&other, NULL, 0, tk_device));
	keep_busy(tk_load_kernels(), BUSY_MS);
	start = tk_ms();
	CK(cuCtxDestroy(other));
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuCtxDestroy waits for its kernels");
	CK(cuCtxSetCurrent(tk_context));
}

/* One that has a module here, of which no kernel runs. */
static void unload_library(void)
{
	CUlibrary library;
	CUmodule module;
	double start;

	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetModule(&module, library));
	start_kernel(NULL);
	start = tk_ms();
	CK(cuLibraryUnload(library));
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuLibraryUnload waits for a kernel of another module");
	tk_sync();
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
	unload_library();
}

#endif
