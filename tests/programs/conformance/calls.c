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

/* ---- memory ---- */

static CUresult alloc(struct scene *s)
{
	s->made.kind = DEVICE;
	return cuMemAlloc(&s->made.at, 1000);
}

static CUresult alloc_large(struct scene *s)
{
	s->made.kind = DEVICE;
	return cuMemAlloc(&s->made.at, 64 << 20);
}

static CUresult alloc_managed(struct scene *s)
{
	s->made.kind = MANAGED;
	return cuMemAllocManaged(&s->made.at, 1000, CU_MEM_ATTACH_GLOBAL);
}

static CUresult alloc_host(struct scene *s)
{
	s->made.kind = PINNED;
	return cuMemHostAlloc((void **)&s->made.at, 1000, 0);
}

static CUresult alloc_async(struct scene *s)
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

static CUresult free_device(struct scene *s)
{
	return forget(&s->device, cuMemFree(s->device.at));
}

static CUresult free_managed(struct scene *s)
{
	return forget(&s->managed, cuMemFree(s->managed.at));
}

static CUresult free_host(struct scene *s)
{
	return forget(&s->pinned, cuMemFreeHost((void *)s->pinned.at));
}

static CUresult free_pool(struct scene *s)
{
	return forget(&s->pool, cuMemFree(s->pool.at));
}

static CUresult free_async(struct scene *s)
{
	return forget(&s->pool, cuMemFreeAsync(s->pool.at, s->at_hand));
}

static CUresult free_async_elsewhere(struct scene *s)
{
	return forget(&s->pool, cuMemFreeAsync(s->pool.at, s->other));
}

static CUresult mem_info(struct scene *s TK_UNUSED)
{
	return cuMemGetInfo(&(size_t){0}, &(size_t){0});
}

static CUresult attribute(struct scene *s)
{
	return cuPointerGetAttribute(&(unsigned){0}, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s->device.at);
}

static CUresult sync_memops(struct scene *s)
{
	return cuPointerSetAttribute(&(unsigned){1}, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, s->device.at);
}

static CUresult range(struct scene *s)
{
	return cuMemGetAddressRange(NULL, &(size_t){0}, s->device.at);
}

static CUresult ipc(struct scene *s)
{
	CUipcMemHandle handle;

	return cuIpcGetMemHandle(&handle, s->device.at);
}

static CUresult advise(struct scene *s)
{
	return cuMemAdvise(s->managed.at, 1000, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here());
}

static CUresult prefetch(struct scene *s)
{
	return cuMemPrefetchAsync(s->managed.at, 1000, here(), 0, s->at_hand);
}

static CUresult prefetch_elsewhere(struct scene *s)
{
	return cuMemPrefetchAsync(s->managed.at, 1000, here(), 0, s->other);
}

static CUresult attach(struct scene *s)
{
	return cuStreamAttachMemAsync(s->other, s->managed.at, 0, CU_MEM_ATTACH_GLOBAL);
}

static CUresult host_register(struct scene *s)
{
	return cuMemHostRegister(s->own, OWN_BYTES, 0);
}

static CUresult host_unregister(struct scene *s)
{
	CUresult r = cuMemHostUnregister(s->registered.own);

	if (!r)
		free(s->registered.own);
	return forget(&s->registered, r);
}

static CUresult create(struct scene *s)
{
	return create_physical(&s->made_handle, s->mapped.size, 0);
}

static CUresult reserve(struct scene *s)
{
	return cuMemAddressReserve(&s->made_range, s->mapped.size, 0, 0, 0);
}

static CUresult map(struct scene *s)
{
	CUresult r = cuMemMap(s->range, s->mapped.size, 0, s->spare, 0);

	s->spare_is_mapped = !r;
	return r;
}

static CUresult set_access(struct scene *s)
{
	return make_accessible(s->mapped.at, s->mapped.size);
}

static CUresult map_and_set_access(struct scene *s)
{
	CUresult r = map(s);

	return r ? r : make_accessible(s->range, s->mapped.size);
}

static CUresult unmap(struct scene *s)
{
	CUresult r = cuMemUnmap(s->mapped.at, s->mapped.size);

	if (!r) {
		CK(cuMemAddressFree(s->mapped.at, s->mapped.size));
		CK(cuMemRelease(s->mapped.handle));
	}
	return forget(&s->mapped, r);
}

static CUresult release(struct scene *s)
{
	CUresult r = cuMemRelease(s->spare);

	if (!r)
		s->spare = 0;
	return r;
}

/* ---- copies and fills ---- */

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

static CUresult copy_managed_to_device(struct scene *s)
{
	return cuMemcpyDtoD(s->device.at, s->managed.at, 1000);
}

static CUresult copy_async_to(struct scene *s)
{
	return cuMemcpyHtoDAsync(s->device.at, s->plain, 1000, s->at_hand);
}

static CUresult copy_async_from(struct scene *s)
{
	return cuMemcpyDtoHAsync(s->plain, s->device.at, 1000, s->at_hand);
}

static CUresult copy_async_from_elsewhere(struct scene *s)
{
	return cuMemcpyDtoHAsync(s->plain, s->device.at, 1000, s->other);
}

static CUresult copy_async_to_pinned(struct scene *s)
{
	return cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->at_hand);
}

static CUresult copy_async_to_pinned_elsewhere(struct scene *s)
{
	return cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->other);
}

static CUresult fill(struct scene *s)
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
	return cuMemsetD8Async(s->device.at, 1, 1000, s->at_hand);
}

static CUresult fill_async_elsewhere(struct scene *s)
{
	return cuMemsetD8Async(s->device.at, 1, 1000, s->other);
}

static CUresult batch(struct scene *s, CUstream stream, CUmemcpySrcAccessOrder order)
{
	return copy_batch(s->device.at, s->device.at + 500, 1, order, stream);
}

static CUresult batch_captured(struct scene *s)
{
	return batch(s, s->at_hand, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
}

static CUresult batch_ephemeral(struct scene *s)
{
	return batch(s, s->at_hand, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
}

static CUresult batch_elsewhere(struct scene *s)
{
	return batch(s, s->other, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
}

static CUresult boxes(struct scene *s)
{
	return copy_box(s->device.at, s->device.at + 500, s->at_hand);
}

static CUresult boxes_elsewhere(struct scene *s)
{
	return copy_box(s->device.at, s->device.at + 500, s->other);
}

/* ---- streams, events, kernels ---- */

static CUresult launch_on(CUstream stream)
{
	return cuLaunchKernel(tk_kernel("k_spin_ms"), 1, 1, 1, 1, 1, 1, 0, stream, TK_ARGS(&(int){0}), NULL);
}

static CUresult launch_elsewhere(struct scene *s)
{
	return launch_on(s->other);
}

static CUresult launch_null(struct scene *s TK_UNUSED)
{
	return launch_on(NULL);
}

static CUresult write_value(struct scene *s)
{
	return cuStreamWriteValue32(s->other, s->device.at, 0, 0);
}

static CUresult query_event(struct scene *s)
{
	return cuEventQuery(s->recorded);
}

static CUresult wait_event(struct scene *s)
{
	return cuEventSynchronize(s->recorded);
}

static CUresult query_fresh(struct scene *s)
{
	return cuEventQuery(s->fresh);
}

static CUresult record_elsewhere(struct scene *s)
{
	return cuEventRecord(s->fresh, s->other);
}

static CUresult elapsed(struct scene *s)
{
	return cuEventElapsedTime(&(float){0}, s->recorded, s->recorded);
}

static CUresult record_and_query(struct scene *s)
{
	CUresult r = cuEventRecord(s->fresh, s->at_hand);

	return r ? r : cuEventQuery(s->fresh);
}

static CUresult record_and_wait(struct scene *s)
{
	CUresult r = cuEventRecord(s->fresh, s->at_hand);

	return r ? r : cuEventSynchronize(s->fresh);
}

static CUresult record_and_wait_elsewhere(struct scene *s)
{
	CUresult r = cuEventRecord(s->fresh, s->at_hand);

	return r ? r : cuStreamWaitEvent(s->other, s->fresh, 0);
}

static CUresult wait_recorded(struct scene *s)
{
	return cuStreamWaitEvent(s->at_hand, s->recorded, 0);
}

static CUresult wait_fresh(struct scene *s)
{
	return cuStreamWaitEvent(s->at_hand, s->fresh, 0);
}

static CUresult query_other(struct scene *s)
{
	return cuStreamQuery(s->other);
}

static CUresult sync_other(struct scene *s)
{
	return cuStreamSynchronize(s->other);
}

static CUresult query_at_hand(struct scene *s)
{
	return cuStreamQuery(s->at_hand);
}

static CUresult sync_at_hand(struct scene *s)
{
	return cuStreamSynchronize(s->at_hand);
}

static CUresult query_null(struct scene *s TK_UNUSED)
{
	return cuStreamQuery(NULL);
}

static CUresult ask_null(struct scene *s TK_UNUSED)
{
	CUresult r = cuStreamQuery(NULL);

	return r == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : r;
}

static CUresult sync_null(struct scene *s TK_UNUSED)
{
	return cuStreamSynchronize(NULL);
}

static CUresult sync_per_thread(struct scene *s TK_UNUSED)
{
	return cuStreamSynchronize(CU_STREAM_PER_THREAD);
}

static CUresult sync_context(struct scene *s TK_UNUSED)
{
	return cuCtxSynchronize();
}

static CUresult capturing_null(struct scene *s TK_UNUSED)
{
	CUstreamCaptureStatus status;

	return cuStreamIsCapturing(NULL, &status);
}

static CUresult begin_again(struct scene *s)
{
	return cuStreamBeginCapture(s->at_hand, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static CUresult context_null(struct scene *s TK_UNUSED)
{
	CUcontext c;

	return cuStreamGetCtx(NULL, &c);
}

static CUresult home(CUstream s)
{
	CUgreenCtx green;
	CUcontext c;

	return cuStreamGetCtx_v2(s, &c, &green);
}

static CUresult home_legacy(struct scene *s TK_UNUSED)
{
	return home(CU_STREAM_LEGACY);
}

static CUresult home_per_thread(struct scene *s TK_UNUSED)
{
	return home(CU_STREAM_PER_THREAD);
}

static CUresult home_at_hand(struct scene *s)
{
	return home(s->at_hand);
}

/* ---- what is made and destroyed ---- */

static CUresult create_stream(struct scene *s)
{
	return cuStreamCreate(&s->made_stream, CU_STREAM_NON_BLOCKING);
}

static CUresult create_event(struct scene *s)
{
	return cuEventCreate(&s->made_event, 0);
}

static CUresult destroy_stream(struct scene *s)
{
	CUstream it = s->at_hand;

	s->at_hand = NULL;
	return cuStreamDestroy(it);
}

static CUresult destroy_event(struct scene *s)
{
	CUevent it = s->fresh;

	s->fresh = NULL;
	return cuEventDestroy(it);
}

static CUresult destroy_array(struct scene *s)
{
	CUarray it = s->array;

	s->array = NULL;
	return cuArrayDestroy(it);
}

static CUresult destroy_exec(struct scene *s)
{
	CUgraphExec it = s->exec;

	s->exec = NULL;
	return cuGraphExecDestroy(it);
}

static CUresult unload(struct scene *s)
{
	CUmodule it = s->module;

	s->module = NULL;
	return cuModuleUnload(it);
}

static CUresult load(struct scene *s)
{
	return cuModuleLoad(&s->module, getenv("GMOD_TEST_KERNELS"));
}

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

static CUresult function(struct scene *s TK_UNUSED)
{
	CUfunction f;

	return cuModuleGetFunction(&f, tk_module, "k_fill");
}

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
