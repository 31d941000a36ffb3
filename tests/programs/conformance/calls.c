/* Calls of all sorts, one function each: those that are made beside a capture, and those whose waiting is measured. */
#include "calls.h"

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

void scene_open(struct scene *s, unsigned stream_flags)
{
	memset(s, 0, sizeof(*s));
	CK(cuStreamCreate(&s->at_hand, stream_flags));
	CK(cuStreamCreate(&s->other, CU_STREAM_NON_BLOCKING));
	s->device = memory_new(DEVICE);
	s->managed = memory_new(MANAGED);
	s->pinned = memory_new(PINNED);
	s->pool = memory_new(POOL);
	s->registered = memory_new(REGISTERED);
	s->mapped = memory_new(VMM);
	s->plain = calloc(1, 1000);
	s->own = aligned_alloc(4096, OWN_BYTES);
	CK(create_physical(&s->spare, s->mapped.size, 0));
	CK(cuMemAddressReserve(&s->range, s->mapped.size, 0, 0, 0));
	s->array = new_array();
	s->exec = new_exec();
	CK(cuEventCreate(&s->recorded, 0));
	CK(cuEventCreate(&s->fresh, 0));
	CK(cuEventRecord(s->recorded, s->other));
	tk_sync();
}

static void close_mapped(struct scene *s)
{
	const size_t size = s->mapped.size;

	if (s->spare_is_mapped)
		CK(cuMemUnmap(s->range, size));
	if (s->spare)
		CK(cuMemRelease(s->spare));
	if (s->made_handle)
		CK(cuMemRelease(s->made_handle));
	if (s->made_range)
		CK(cuMemAddressFree(s->made_range, size));
	CK(cuMemAddressFree(s->range, size));
}

void scene_close(struct scene *s)
{
	struct memory *all[] = {&s->device, &s->managed, &s->pinned, &s->pool, &s->registered, &s->mapped, &s->made};
	CUstream streams[] = {s->at_hand, s->other, s->made_stream};
	CUevent events[] = {s->recorded, s->fresh, s->made_event};

	tk_sync();
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i]->at)
			memory_free(all[i]);
	close_mapped(s);
	for (int i = 0; i < 3; i++)
		if (events[i])
			CK(cuEventDestroy(events[i]));
	if (s->array)
		CK(cuArrayDestroy(s->array));
	if (s->exec)
		CK(cuGraphExecDestroy(s->exec));
	if (s->module)
		CK(cuModuleUnload(s->module));
	for (int i = 0; i < 3; i++)
		if (streams[i])
			CK(cuStreamDestroy(streams[i]));
	cuMemHostUnregister(s->own); /* where it was registered */
	free(s->own);
	free(s->plain);
	tk_sync();
}

static CUmemLocation here(void)
{
	return (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, tk_device};
}

static CUdeviceptr *made(struct scene *s, enum kind kind)
{
	s->made.kind = kind;
	return &s->made.at;
}

/* Given away, if that went well. */
static CUresult forget(struct memory *m, CUresult r)
{
	if (!r)
		m->at = 0;
	return r;
}

static CUresult gone(void *handle, CUresult r)
{
	if (!r)
		memset(handle, 0, sizeof(void *));
	return r;
}

static CUresult batch(struct scene *s, CUstream stream, CUmemcpySrcAccessOrder order)
{
	return copy_batch(s->device.at, s->device.at + 500, 1, order, stream);
}

static CUresult launch_on(CUstream stream)
{
	return cuLaunchKernel(tk_kernel("k_spin_ms"), 1, 1, 1, 1, 1, 1, 0, stream, TK_ARGS(&(int){0}), NULL);
}

static CUresult record(struct scene *s)
{
	return cuEventRecord(s->fresh, s->at_hand);
}

static CUresult home_of(CUstream s)
{
	return cuStreamGetCtx_v2(s, &(CUcontext){0}, &(CUgreenCtx){0});
}

/* A row is a call: its name, and what it gives. */
#define CALL(name, call) \
	static CUresult name(struct scene *s TK_UNUSED) \
	{ \
		return call; \
	}

/* ---- memory ---- */

CALL(alloc, cuMemAlloc(made(s, DEVICE), 1000))
CALL(alloc_large, cuMemAlloc(made(s, DEVICE), 64 << 20))
CALL(alloc_managed, cuMemAllocManaged(made(s, MANAGED), 1000, CU_MEM_ATTACH_GLOBAL))
CALL(alloc_host, cuMemHostAlloc((void **)made(s, PINNED), 1000, 0))
CALL(alloc_async, cuMemAllocAsync(made(s, POOL), 1000, s->other))
CALL(free_device, forget(&s->device, cuMemFree(s->device.at)))
CALL(free_managed, forget(&s->managed, cuMemFree(s->managed.at)))
CALL(free_host, forget(&s->pinned, cuMemFreeHost((void *)s->pinned.at)))
CALL(free_pool, forget(&s->pool, cuMemFree(s->pool.at)))
CALL(free_async, forget(&s->pool, cuMemFreeAsync(s->pool.at, s->at_hand)))
CALL(free_async_elsewhere, forget(&s->pool, cuMemFreeAsync(s->pool.at, s->other)))
CALL(mem_info, cuMemGetInfo(&(size_t){0}, &(size_t){0}))
CALL(attribute, cuPointerGetAttribute(&(unsigned){0}, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s->device.at))
CALL(sync_memops, cuPointerSetAttribute(&(unsigned){1}, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, s->device.at))
CALL(range, cuMemGetAddressRange(NULL, &(size_t){0}, s->device.at))
CALL(ipc, cuIpcGetMemHandle(&(CUipcMemHandle){{0}}, s->device.at))
CALL(advise, cuMemAdvise(s->managed.at, 1000, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here()))
CALL(prefetch, cuMemPrefetchAsync(s->managed.at, 1000, here(), 0, s->at_hand))
CALL(prefetch_elsewhere, cuMemPrefetchAsync(s->managed.at, 1000, here(), 0, s->other))
CALL(attach, cuStreamAttachMemAsync(s->other, s->managed.at, 0, CU_MEM_ATTACH_GLOBAL))
CALL(host_register, cuMemHostRegister(s->own, OWN_BYTES, 0))

static CUresult host_unregister(struct scene *s)
{
	CUresult r = cuMemHostUnregister(s->registered.own);

	if (!r)
		free(s->registered.own);
	return forget(&s->registered, r);
}

CALL(create, create_physical(&s->made_handle, s->mapped.size, 0))
CALL(reserve, cuMemAddressReserve(&s->made_range, s->mapped.size, 0, 0, 0))

static CUresult map(struct scene *s)
{
	CUresult r = cuMemMap(s->range, s->mapped.size, 0, s->spare, 0);

	s->spare_is_mapped = !r;
	return r;
}

CALL(set_access, make_accessible(s->mapped.at, s->mapped.size))
CALL(map_and_set_access, map(s) ?: make_accessible(s->range, s->mapped.size))

static CUresult unmap(struct scene *s)
{
	CUresult r = cuMemUnmap(s->mapped.at, s->mapped.size);

	if (!r) {
		CK(cuMemAddressFree(s->mapped.at, s->mapped.size));
		CK(cuMemRelease(s->mapped.handle));
	}
	return forget(&s->mapped, r);
}

CALL(release, gone(&s->spare, cuMemRelease(s->spare)))

/* ---- copies and fills ---- */

CALL(copy_to, cuMemcpyHtoD(s->device.at, s->plain, 1000))
CALL(copy_to_from_pinned, cuMemcpyHtoD(s->device.at, (void *)s->pinned.at, 1000))
CALL(copy_from, cuMemcpyDtoH(s->plain, s->device.at, 1000))
CALL(copy_between, cuMemcpyDtoD(s->device.at, s->device.at + 500, 500))
CALL(copy_between_managed, cuMemcpyDtoD(s->managed.at, s->managed.at + 500, 500))
CALL(copy_managed_to_plain, cuMemcpyDtoH(s->plain, s->managed.at, 1000))
CALL(copy_managed_to_device, cuMemcpyDtoD(s->device.at, s->managed.at, 1000))
CALL(copy_async_to, cuMemcpyHtoDAsync(s->device.at, s->plain, 1000, s->at_hand))
CALL(copy_async_from, cuMemcpyDtoHAsync(s->plain, s->device.at, 1000, s->at_hand))
CALL(copy_async_from_elsewhere, cuMemcpyDtoHAsync(s->plain, s->device.at, 1000, s->other))
CALL(copy_async_to_pinned, cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->at_hand))
CALL(copy_async_to_pinned_elsewhere, cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->other))
CALL(fill, cuMemsetD8(s->device.at, 1, 1000))
CALL(fill_managed, cuMemsetD8(s->managed.at, 1, 1000))
CALL(fill_pinned, cuMemsetD8(s->pinned.at, 1, 1000))
CALL(fill_async, cuMemsetD8Async(s->device.at, 1, 1000, s->at_hand))
CALL(fill_async_elsewhere, cuMemsetD8Async(s->device.at, 1, 1000, s->other))
CALL(batch_captured, batch(s, s->at_hand, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM))
CALL(batch_ephemeral, batch(s, s->at_hand, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL))
CALL(batch_elsewhere, batch(s, s->other, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM))
CALL(boxes, copy_box(s->device.at, s->device.at + 500, s->at_hand))
CALL(boxes_elsewhere, copy_box(s->device.at, s->device.at + 500, s->other))

/* ---- streams, events, kernels ---- */

CALL(launch_elsewhere, launch_on(s->other))
CALL(launch_null, launch_on(NULL))
CALL(write_value, cuStreamWriteValue32(s->other, s->device.at, 0, 0))
CALL(query_event, cuEventQuery(s->recorded))
CALL(wait_event, cuEventSynchronize(s->recorded))
CALL(query_fresh, cuEventQuery(s->fresh))
CALL(record_elsewhere, cuEventRecord(s->fresh, s->other))
CALL(elapsed, cuEventElapsedTime(&(float){0}, s->recorded, s->recorded))
CALL(record_and_query, record(s) ?: cuEventQuery(s->fresh))
CALL(record_and_wait, record(s) ?: cuEventSynchronize(s->fresh))
CALL(record_and_wait_elsewhere, record(s) ?: cuStreamWaitEvent(s->other, s->fresh, 0))
CALL(wait_recorded, cuStreamWaitEvent(s->at_hand, s->recorded, 0))
CALL(wait_fresh, cuStreamWaitEvent(s->at_hand, s->fresh, 0))
CALL(query_other, cuStreamQuery(s->other))
CALL(sync_other, cuStreamSynchronize(s->other))
CALL(query_at_hand, cuStreamQuery(s->at_hand))
CALL(sync_at_hand, cuStreamSynchronize(s->at_hand))
CALL(query_null, cuStreamQuery(NULL))

/* Whether it waits is asked, not what it says. */
static CUresult ask_null(struct scene *s TK_UNUSED)
{
	CUresult r = cuStreamQuery(NULL);

	return r == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : r;
}

CALL(sync_null, cuStreamSynchronize(NULL))
CALL(sync_per_thread, cuStreamSynchronize(CU_STREAM_PER_THREAD))
CALL(sync_context, cuCtxSynchronize())
CALL(capturing_null, cuStreamIsCapturing(NULL, &(CUstreamCaptureStatus){0}))
CALL(begin_again, cuStreamBeginCapture(s->at_hand, CU_STREAM_CAPTURE_MODE_GLOBAL))
CALL(context_null, cuStreamGetCtx(NULL, &(CUcontext){0}))
CALL(home_legacy, home_of(CU_STREAM_LEGACY))
CALL(home_per_thread, home_of(CU_STREAM_PER_THREAD))
CALL(home_at_hand, home_of(s->at_hand))

/* ---- what is made and destroyed ---- */

CALL(create_stream, cuStreamCreate(&s->made_stream, CU_STREAM_NON_BLOCKING))
CALL(create_event, cuEventCreate(&s->made_event, 0))
CALL(destroy_stream, gone(&s->at_hand, cuStreamDestroy(s->at_hand)))
CALL(destroy_event, gone(&s->fresh, cuEventDestroy(s->fresh)))
CALL(destroy_array, gone(&s->array, cuArrayDestroy(s->array)))
CALL(destroy_exec, gone(&s->exec, cuGraphExecDestroy(s->exec)))
CALL(unload, gone(&s->module, cuModuleUnload(s->module)))
CALL(load, cuModuleLoad(&s->module, getenv("GMOD_TEST_KERNELS")))

static CUresult load_again(struct scene *s)
{
	CK(cuModuleUnload(s->module));
	s->module = tk_load_kernels();
	return CUDA_SUCCESS;
}

static CUresult load_and_unload(struct scene *s TK_UNUSED)
{
	CUmodule module;
	CUresult r = cuModuleLoad(&module, getenv("GMOD_TEST_KERNELS"));

	return r ? r : cuModuleUnload(module);
}

static CUresult load_and_unload_library(struct scene *s TK_UNUSED)
{
	CUlibrary library;
	CUresult r = cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0);

	return r ? r : cuLibraryUnload(library);
}

CALL(function, cuModuleGetFunction(&(CUfunction){0}, tk_module, "k_fill"))

const struct capture_call capture_calls[] = {
    {"cuMemAlloc", alloc},
    {"cuMemAllocManaged", alloc_managed},
    {"cuMemHostAlloc", alloc_host},
    {"cuMemAllocAsync elsewhere", alloc_async},
    {"cuMemFree", free_device},
    {"cuMemFree of managed memory", free_managed},
    {"cuMemFreeHost", free_host},
    {"cuMemFree of pool memory", free_pool},
    {"cuMemFreeAsync elsewhere", free_async_elsewhere},
    {"cuMemGetInfo", mem_info},
    {"cuPointerGetAttribute", attribute},
    {"cuPointerSetAttribute", sync_memops},
    {"cuMemGetAddressRange", range},
    {"cuIpcGetMemHandle", ipc},
    {"cuMemAdvise", advise},
    {"cuMemPrefetchAsync elsewhere", prefetch_elsewhere},
    {"cuMemPrefetchAsync", prefetch},
    {"cuStreamAttachMemAsync elsewhere", attach},
    {"copy to device", copy_to},
    {"copy from device", copy_from},
    {"copy between devices", copy_between},
    {"async copy elsewhere", copy_async_to_pinned_elsewhere},
    {"async copy elsewhere to pageable memory", copy_async_from_elsewhere},
    {"fill", fill},
    {"async fill elsewhere", fill_async_elsewhere},
    {"launch elsewhere", launch_elsewhere},
    {"launch on the null stream", launch_null},
    {"cuEventQuery", query_event},
    {"cuEventQuery of an unrecorded event", query_fresh},
    {"cuEventSynchronize", wait_event},
    {"cuEventRecord elsewhere", record_elsewhere},
    {"cuEventElapsedTime", elapsed},
    {"cuEventQuery of an event recorded inside", record_and_query},
    {"cuStreamQuery elsewhere", query_other},
    {"cuStreamSynchronize elsewhere", sync_other},
    {"cuStreamQuery", query_at_hand},
    {"cuStreamSynchronize", sync_at_hand},
    {"cuStreamQuery of the null stream", query_null},
    {"cuStreamSynchronize of the null stream", sync_null},
    {"cuStreamIsCapturing of the null stream", capturing_null},
    {"cuCtxSynchronize", sync_context},
    {"cuStreamCreate", create_stream},
    {"cuEventCreate", create_event},
    {"cuModuleLoad", load},
    {"cuModuleLoad and cuModuleUnload", load_and_unload},
    {"cuLibraryLoadFromFile and cuLibraryUnload", load_and_unload_library},
    {"cuModuleGetFunction", function},
    {"waiting for an event recorded before", wait_recorded},
    {"waiting for an unrecorded event", wait_fresh},
    {"cuStreamBeginCapture", begin_again},
    {"cuMemHostRegister", host_register},
    {"cuMemHostUnregister", host_unregister},
    {"cuMemCreate", create},
    {"cuMemAddressReserve", reserve},
    {"cuMemMap", map},
    {"cuMemSetAccess", set_access},
    {"cuMemUnmap", unmap},
    {"cuMemRelease", release},
    {"cuStreamWriteValue32 elsewhere", write_value},
    {"cuStreamGetCtx of the null stream", context_null},
    {"cuStreamGetCtx_v2 of the legacy stream", home_legacy},
    {"cuStreamGetCtx_v2 of the per-thread stream", home_per_thread},
    {"cuStreamGetCtx_v2", home_at_hand},
    {"cuMemcpyBatchAsync", batch_captured},
    {"cuMemcpyBatchAsync of ephemeral sources", batch_ephemeral},
    {"cuMemcpyBatchAsync elsewhere", batch_elsewhere},
    {"cuMemcpy3DBatchAsync", boxes},
    {"cuMemcpy3DBatchAsync elsewhere", boxes_elsewhere},
    {NULL, NULL},
};

const struct wait_call wait_calls[] = {
    {"cuMemFree of device memory", free_device, ON_BUSY, KINDS},
    {"cuMemFree of managed memory", free_managed, ON_BUSY, KINDS},
    {"cuMemFree of pool memory", free_pool, ON_BUSY, KINDS},
    {"cuMemFreeHost", free_host, ON_BUSY, KINDS},
    {"cuMemFreeAsync", free_async, ON_BUSY, KINDS},
    {"cuMemAlloc", alloc, ON_BUSY, DEVICE},
    {"cuMemAlloc of 64 MiB", alloc_large, ON_BUSY, DEVICE},
    {"cuMemAllocManaged", alloc_managed, ON_BUSY, MANAGED},
    {"cuMemHostAlloc", alloc_host, ON_BUSY, PINNED},
    {"cuMemAllocAsync", alloc_async, ON_BUSY, POOL},
    {"cuMemAdvise", advise, ON_BUSY, KINDS},
    {"cuMemPrefetchAsync", prefetch_elsewhere, ON_BUSY, KINDS},
    {"cuMemGetInfo", mem_info, ON_BUSY, KINDS},
    {"cuModuleUnload", unload, ON_BUSY, KINDS},
    {"cuModuleUnload and cuModuleLoad", load_again, ON_BUSY, KINDS},
    {"cuStreamDestroy", destroy_stream, ON_BUSY, KINDS},
    {"cuArrayDestroy", destroy_array, ON_BUSY, KINDS},
    {"cuEventDestroy", destroy_event, ON_BUSY, KINDS},
    {"cuGraphExecDestroy", destroy_exec, ON_BUSY, KINDS},
    {"cuEventSynchronize", record_and_wait, ON_BUSY, KINDS},
    {"cuStreamWaitEvent", record_and_wait_elsewhere, ON_BUSY, KINDS},
    {"copy to device", copy_to, ON_BUSY, KINDS},
    {"copy from device", copy_from, ON_BUSY, KINDS},
    {"async copy on that stream from pageable memory", copy_async_to, ON_BUSY, KINDS},
    {"async copy on that stream to pageable memory", copy_async_from, ON_BUSY, KINDS},
    {"async copy on that stream to pinned memory", copy_async_to_pinned, ON_BUSY, KINDS},
    {"async copy on a third stream", copy_async_to_pinned_elsewhere, ON_BUSY, KINDS},
    {"async fill on that stream", fill_async, ON_BUSY, KINDS},
    {"fill of device memory", fill, ON_BUSY, KINDS},
    {"synchronising the null stream", sync_null, ON_BUSY, KINDS},
    {"copy to device", copy_to, ON_NULL, KINDS},
    {"copy to device from pinned memory", copy_to_from_pinned, ON_NULL, KINDS},
    {"copy from device", copy_from, ON_NULL, KINDS},
    {"copy from managed memory", copy_managed_to_plain, ON_NULL, KINDS},
    {"copy between devices", copy_between, ON_NULL, KINDS},
    {"copy within managed memory", copy_between_managed, ON_NULL, KINDS},
    {"fill of device memory", fill, ON_NULL, KINDS},
    {"fill of managed memory", fill_managed, ON_NULL, KINDS},
    {"fill of pinned memory", fill_pinned, ON_NULL, KINDS},
    {"synchronising a non-blocking stream", sync_other, ON_NULL, KINDS},
    {"synchronising the null stream", sync_null, ON_BLOCKING, KINDS},
    {"asking the null stream", ask_null, ON_BLOCKING, KINDS},
    {"copy to device", copy_to, ON_BLOCKING, KINDS},
    {"copy to device", copy_to, ON_PER_THREAD, KINDS},
    {"synchronising the per-thread stream", sync_per_thread, ON_BLOCKING, KINDS},
    {"synchronising the per-thread stream", sync_per_thread, ON_NULL, KINDS},
    {"cuMemHostRegister", host_register, ON_BUSY, KINDS},
    {"cuMemHostUnregister", host_unregister, ON_BUSY, KINDS},
    {"cuMemCreate", create, ON_BUSY, KINDS},
    {"cuMemMap", map, ON_BUSY, KINDS},
    {"cuMemSetAccess", set_access, ON_BUSY, KINDS},
    {"cuMemMap and cuMemSetAccess", map_and_set_access, ON_BUSY, KINDS},
    {"cuMemRelease", release, ON_BUSY, KINDS},
    {"cuMemUnmap", unmap, ON_BUSY, KINDS},
    {"copy from managed to device memory", copy_managed_to_device, ON_NULL, KINDS},
    {NULL, NULL, ON_BUSY, KINDS},
};
