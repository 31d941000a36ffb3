/* Stream capture: what every call does to it, by mode, thread and kind of stream. */
#ifndef GMOD_CONFORMANCE_CAPTURE_H
#define GMOD_CONFORMANCE_CAPTURE_H

#include "conformance.h"

#include <pthread.h>

/* What a call under test may use; made before the capture begins, taken away after it ended. */
struct capture_scene {
	CUstream captured, other;
	struct memory device, managed, pinned, pool;
	CUevent recorded, fresh;
	CUmodule module;
	CUstream made_stream;
	CUevent made_event;
	struct memory made;
	char *plain;
};

typedef CUresult capture_call(struct capture_scene *s);

static CUresult c_alloc(struct capture_scene *s)
{
	s->made.kind = DEVICE;
	return cuMemAlloc(&s->made.at, 1000);
}

static CUresult c_alloc_managed(struct capture_scene *s)
{
	s->made.kind = MANAGED;
	return cuMemAllocManaged(&s->made.at, 1000, CU_MEM_ATTACH_GLOBAL);
}

static CUresult c_alloc_host(struct capture_scene *s)
{
	s->made.kind = PINNED;
	return cuMemHostAlloc((void **)&s->made.at, 1000, 0);
}

static CUresult c_alloc_async(struct capture_scene *s)
{
	s->made.kind = POOL;
	return cuMemAllocAsync(&s->made.at, 1000, s->other);
}

static CUresult forget(struct memory *m, CUresult r)
{
	if (!r)
		m->at = 0;
	return r;
}

static CUresult c_free(struct capture_scene *s)
{
	return forget(&s->device, cuMemFree(s->device.at));
}

static CUresult c_free_managed(struct capture_scene *s)
{
	return forget(&s->managed, cuMemFree(s->managed.at));
}

static CUresult c_free_host(struct capture_scene *s)
{
	return forget(&s->pinned, cuMemFreeHost((void *)s->pinned.at));
}

static CUresult c_free_pool(struct capture_scene *s)
{
	return forget(&s->pool, cuMemFree(s->pool.at));
}

static CUresult c_free_async(struct capture_scene *s)
{
	return forget(&s->pool, cuMemFreeAsync(s->pool.at, s->other));
}

static CUresult c_mem_info(struct capture_scene *s)
{
	size_t a, b;

	(void)s;
	return cuMemGetInfo(&a, &b);
}

static CUresult c_attribute(struct capture_scene *s)
{
	unsigned type;

	return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s->device.at);
}

static CUresult c_sync_memops(struct capture_scene *s)
{
	unsigned on = 1;

	return cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, s->device.at);
}

static CUresult c_range(struct capture_scene *s)
{
	return cuMemGetAddressRange(NULL, &(size_t){0}, s->device.at);
}

static CUresult c_ipc(struct capture_scene *s)
{
	CUipcMemHandle handle;

	return cuIpcGetMemHandle(&handle, s->device.at);
}

static CUresult c_advise(struct capture_scene *s)
{
	return cuMemAdvise(s->managed.at, 1000, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
			   (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, tk_device});
}

static CUresult c_prefetch(struct capture_scene *s)
{
	return cuMemPrefetchAsync(s->managed.at, 1000, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, tk_device}, 0,
				  s->other);
}

static CUresult c_prefetch_captured(struct capture_scene *s)
{
	return cuMemPrefetchAsync(s->managed.at, 1000, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, tk_device}, 0,
				  s->captured);
}

static CUresult c_attach(struct capture_scene *s)
{
	return cuStreamAttachMemAsync(s->other, s->managed.at, 0, CU_MEM_ATTACH_GLOBAL);
}

static CUresult c_copy_to(struct capture_scene *s)
{
	return cuMemcpyHtoD(s->device.at, s->plain, 1000);
}

static CUresult c_copy_from(struct capture_scene *s)
{
	return cuMemcpyDtoH(s->plain, s->device.at, 1000);
}

static CUresult c_copy_between(struct capture_scene *s)
{
	return cuMemcpyDtoD(s->device.at, s->device.at + 500, 500);
}

static CUresult c_copy_async(struct capture_scene *s)
{
	return cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->other);
}

static CUresult c_copy_async_plain(struct capture_scene *s)
{
	return cuMemcpyDtoHAsync(s->plain, s->device.at, 1000, s->other);
}

static CUresult c_fill(struct capture_scene *s)
{
	return cuMemsetD8(s->device.at, 0, 1000);
}

static CUresult c_fill_async(struct capture_scene *s)
{
	return cuMemsetD8Async(s->device.at, 0, 1000, s->other);
}

static CUresult c_launch(struct capture_scene *s)
{
	int ms = 0;

	return cuLaunchKernel(tk_kernel("k_spin_ms"), 1, 1, 1, 1, 1, 1, 0, s->other, TK_ARGS(&ms), NULL);
}

static CUresult c_launch_null(struct capture_scene *s)
{
	int ms = 0;

	(void)s;
	return cuLaunchKernel(tk_kernel("k_spin_ms"), 1, 1, 1, 1, 1, 1, 0, NULL, TK_ARGS(&ms), NULL);
}

static CUresult c_query_event(struct capture_scene *s)
{
	return cuEventQuery(s->recorded);
}

static CUresult c_wait_event(struct capture_scene *s)
{
	return cuEventSynchronize(s->recorded);
}

static CUresult c_query_fresh(struct capture_scene *s)
{
	return cuEventQuery(s->fresh);
}

static CUresult c_record_other(struct capture_scene *s)
{
	return cuEventRecord(s->fresh, s->other);
}

static CUresult c_elapsed(struct capture_scene *s)
{
	float ms;

	return cuEventElapsedTime(&ms, s->recorded, s->recorded);
}

static CUresult c_query_other(struct capture_scene *s)
{
	return cuStreamQuery(s->other);
}

static CUresult c_sync_other(struct capture_scene *s)
{
	return cuStreamSynchronize(s->other);
}

static CUresult c_query_captured(struct capture_scene *s)
{
	return cuStreamQuery(s->captured);
}

static CUresult c_sync_captured(struct capture_scene *s)
{
	return cuStreamSynchronize(s->captured);
}

static CUresult c_query_null(struct capture_scene *s)
{
	(void)s;
	return cuStreamQuery(NULL);
}

static CUresult c_sync_null(struct capture_scene *s)
{
	(void)s;
	return cuStreamSynchronize(NULL);
}

static CUresult c_sync_context(struct capture_scene *s)
{
	(void)s;
	return cuCtxSynchronize();
}

static CUresult c_create_stream(struct capture_scene *s)
{
	return cuStreamCreate(&s->made_stream, CU_STREAM_NON_BLOCKING);
}

static CUresult c_create_event(struct capture_scene *s)
{
	return cuEventCreate(&s->made_event, 0);
}

static CUresult c_load(struct capture_scene *s)
{
	return cuModuleLoad(&s->module, getenv("GMOD_TEST_KERNELS"));
}

static CUresult c_function(struct capture_scene *s)
{
	CUfunction f;

	(void)s;
	return cuModuleGetFunction(&f, tk_module, "k_fill");
}

static CUresult c_capturing_null(struct capture_scene *s)
{
	CUstreamCaptureStatus status;

	(void)s;
	return cuStreamIsCapturing(NULL, &status);
}

static CUresult c_wait_recorded(struct capture_scene *s)
{
	return cuStreamWaitEvent(s->captured, s->recorded, 0);
}

static CUresult c_wait_fresh(struct capture_scene *s)
{
	return cuStreamWaitEvent(s->captured, s->fresh, 0);
}

static CUresult c_query_recorded_inside(struct capture_scene *s)
{
	CUresult r = cuEventRecord(s->fresh, s->captured);

	return r ? r : cuEventQuery(s->fresh);
}

static CUresult c_begin_again(struct capture_scene *s)
{
	return cuStreamBeginCapture(s->captured, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static const struct {
	const char *name;
	capture_call *call;
} capture_table[] = {
    {"cuMemAlloc", c_alloc},
    {"cuMemAllocManaged", c_alloc_managed},
    {"cuMemHostAlloc", c_alloc_host},
    {"cuMemAllocAsync elsewhere", c_alloc_async},
    {"cuMemFree", c_free},
    {"cuMemFree of managed memory", c_free_managed},
    {"cuMemFreeHost", c_free_host},
    {"cuMemFree of pool memory", c_free_pool},
    {"cuMemFreeAsync elsewhere", c_free_async},
    {"cuMemGetInfo", c_mem_info},
    {"cuPointerGetAttribute", c_attribute},
    {"cuPointerSetAttribute", c_sync_memops},
    {"cuMemGetAddressRange", c_range},
    {"cuIpcGetMemHandle", c_ipc},
    {"cuMemAdvise", c_advise},
    {"cuMemPrefetchAsync elsewhere", c_prefetch},
    {"cuMemPrefetchAsync", c_prefetch_captured},
    {"cuStreamAttachMemAsync elsewhere", c_attach},
    {"copy to device", c_copy_to},
    {"copy from device", c_copy_from},
    {"copy between devices", c_copy_between},
    {"async copy elsewhere", c_copy_async},
    {"async copy elsewhere to pageable memory", c_copy_async_plain},
    {"fill", c_fill},
    {"async fill elsewhere", c_fill_async},
    {"launch elsewhere", c_launch},
    {"launch on the null stream", c_launch_null},
    {"cuEventQuery", c_query_event},
    {"cuEventQuery of an unrecorded event", c_query_fresh},
    {"cuEventSynchronize", c_wait_event},
    {"cuEventRecord elsewhere", c_record_other},
    {"cuEventElapsedTime", c_elapsed},
    {"cuEventQuery of an event recorded inside", c_query_recorded_inside},
    {"cuStreamQuery elsewhere", c_query_other},
    {"cuStreamSynchronize elsewhere", c_sync_other},
    {"cuStreamQuery", c_query_captured},
    {"cuStreamSynchronize", c_sync_captured},
    {"cuStreamQuery of the null stream", c_query_null},
    {"cuStreamSynchronize of the null stream", c_sync_null},
    {"cuStreamIsCapturing of the null stream", c_capturing_null},
    {"cuCtxSynchronize", c_sync_context},
    {"cuStreamCreate", c_create_stream},
    {"cuEventCreate", c_create_event},
    {"cuModuleLoad", c_load},
    {"cuModuleGetFunction", c_function},
    {"waiting for an event recorded before", c_wait_recorded},
    {"waiting for an unrecorded event", c_wait_fresh},
    {"cuStreamBeginCapture", c_begin_again},
};

static void capture_scene_open(struct capture_scene *s, unsigned stream_flags)
{
	memset(s, 0, sizeof(*s));
	CK(cuStreamCreate(&s->captured, stream_flags));
	CK(cuStreamCreate(&s->other, CU_STREAM_NON_BLOCKING));
	s->device = memory_new(DEVICE);
	s->managed = memory_new(MANAGED);
	s->pinned = memory_new(PINNED);
	s->pool = memory_new(POOL);
	s->plain = calloc(1, 1000);
	CK(cuEventCreate(&s->recorded, 0));
	CK(cuEventCreate(&s->fresh, 0));
	CK(cuEventRecord(s->recorded, s->other));
	tk_sync();
}

static void capture_scene_close(struct capture_scene *s)
{
	struct memory *all[] = {&s->device, &s->managed, &s->pinned, &s->pool, &s->made};

	tk_sync();
	for (int i = 0; i < 5; i++)
		if (all[i]->at)
			memory_free(all[i]);
	CK(cuEventDestroy(s->recorded));
	CK(cuEventDestroy(s->fresh));
	if (s->made_stream)
		CK(cuStreamDestroy(s->made_stream));
	if (s->made_event)
		CK(cuEventDestroy(s->made_event));
	if (s->module)
		CK(cuModuleUnload(s->module));
	CK(cuStreamDestroy(s->captured));
	CK(cuStreamDestroy(s->other));
	free(s->plain);
	tk_sync();
}

/* Who makes the call, in which exchange mode. */
struct caller {
	capture_call *call;
	struct capture_scene *scene;
	CUstreamCaptureMode thread_mode;
	CUresult result;
};

static void *call_it(void *arg)
{
	struct caller *c = arg;
	CUstreamCaptureMode mode = c->thread_mode;

	CK(cuCtxSetCurrent(tk_context));
	CK(cuThreadExchangeStreamCaptureMode(&mode));
	c->result = c->call(c->scene);
	CK(cuThreadExchangeStreamCaptureMode(&mode));
	return NULL;
}

static void call_in_thread(struct caller *c)
{
	pthread_t thread;

	REQUIRE(!pthread_create(&thread, NULL, call_it, c));
	pthread_join(thread, NULL);
}

static const char *const mode_names[] = {"global", "thread-local", "relaxed"};

struct setting {
	CUstreamCaptureMode mode, thread_mode;
	int other_thread;
	unsigned stream_flags;
};

static void try_call(const char *name, capture_call *call, const struct setting *how)
{
	struct capture_scene s;
	struct caller caller = {call, &s, how->thread_mode, CUDA_SUCCESS};
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUgraph graph = NULL;
	char topic[200];

	capture_scene_open(&s, how->stream_flags);
	CK(cuStreamBeginCapture(s.captured, how->mode));
	if (how->other_thread)
		call_in_thread(&caller);
	else
		call_it(&caller);
	cuStreamIsCapturing(s.captured, &status);
	snprintf(topic, sizeof(topic), "%s capture%s, %s%s%s", mode_names[how->mode],
		 how->stream_flags ? "" : " of a blocking stream", how->other_thread ? "from another thread, " : "",
		 how->thread_mode ? mode_names[how->thread_mode] : "", how->thread_mode ? " mode, " : "");
	fact(code(caller.result), "%s%s", topic, name);
	fact(status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "goes on" : "lost", "%s%s, the capture", topic, name);
	if (!cuStreamEndCapture(s.captured, &graph) && graph)
		CK(cuGraphDestroy(graph));
	capture_scene_close(&s);
}

static void try_all(const struct setting *how)
{
	for (unsigned i = 0; i < sizeof(capture_table) / sizeof(capture_table[0]); i++)
		try_call(capture_table[i].name, capture_table[i].call, how);
}

static void capture_facts(void)
{
	const CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL, local = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
				  relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
	const struct setting settings[] = {
	    {global, global, 0, CU_STREAM_NON_BLOCKING},  {local, global, 0, CU_STREAM_NON_BLOCKING},
	    {relaxed, global, 0, CU_STREAM_NON_BLOCKING}, {global, relaxed, 0, CU_STREAM_NON_BLOCKING},
	    {global, global, 1, CU_STREAM_NON_BLOCKING},  {local, global, 1, CU_STREAM_NON_BLOCKING},
	    {global, local, 1, CU_STREAM_NON_BLOCKING},   {global, relaxed, 1, CU_STREAM_NON_BLOCKING},
	    {global, global, 0, CU_STREAM_DEFAULT},       {relaxed, relaxed, 0, CU_STREAM_DEFAULT},
	};

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		try_all(&settings[i]);
}

#endif
