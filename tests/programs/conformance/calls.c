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

static CUresult host_unregister(struct scene *s)
{
	CUresult r = cuMemHostUnregister(s->registered.own);

	if (!r)
		free(s->registered.own);
	return forget(&s->registered, r);
}

static CUresult map(struct scene *s)
{
	CUresult r = cuMemMap(s->range, s->mapped.size, 0, s->spare, 0);

	s->spare_is_mapped = !r;
	return r;
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

/* Whether it waits is asked, not what it says. */
static CUresult ask_null(struct scene *s TK_UNUSED)
{
	CUresult r = cuStreamQuery(NULL);

	return r == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : r;
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

static CUmemoryPool own_pool(void)
{
	CUmemoryPool pool;

	CK(cuDeviceGetDefaultMemPool(&pool, tk_device));
	return pool;
}

static CUresult make_pool(struct scene *s TK_UNUSED)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = here()};
	CUmemoryPool pool;
	CUresult r = cuMemPoolCreate(&pool, &props);

	return r ? r : cuMemPoolDestroy(pool);
}

static CUresult ask_pool(CUmemPool_attribute attribute)
{
	return cuMemPoolGetAttribute(own_pool(), attribute, &(cuuint64_t){0});
}

static CUresult ask_attributes(struct scene *s)
{
	CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
	unsigned type, managed;
	void *data[] = {&type, &managed};

	return cuPointerGetAttributes(2, what, data, s->pool.at);
}

static CUresult retain(struct scene *s)
{
	CUmemGenericAllocationHandle handle;
	CUresult r = cuMemRetainAllocationHandle(&handle, (void *)s->mapped.at);

	return r ? r : cuMemRelease(handle);
}

static CUresult push_and_pop(struct scene *s TK_UNUSED)
{
	CUresult r = cuCtxPushCurrent(tk_context);

	return r ? r : cuCtxPopCurrent(&(CUcontext){0});
}

/* Of a row comes a function, and its place in a table. */
#define CALL(name, does) \
	static CUresult name(struct scene *s TK_UNUSED) \
	{ \
		return does; \
	}

#define CAPTURE_CALLS(X) \
	X(alloc, "cuMemAlloc", cuMemAlloc(made(s, DEVICE), 1000)) \
	X(alloc_managed, "cuMemAllocManaged", cuMemAllocManaged(made(s, MANAGED), 1000, CU_MEM_ATTACH_GLOBAL)) \
	X(alloc_host, "cuMemHostAlloc", cuMemHostAlloc((void **)made(s, PINNED), 1000, 0)) \
	X(alloc_async, "cuMemAllocAsync elsewhere", cuMemAllocAsync(made(s, POOL), 1000, s->other)) \
	X(free_device, "cuMemFree", forget(&s->device, cuMemFree(s->device.at))) \
	X(free_managed, "cuMemFree of managed memory", forget(&s->managed, cuMemFree(s->managed.at))) \
	X(free_host, "cuMemFreeHost", forget(&s->pinned, cuMemFreeHost((void *)s->pinned.at))) \
	X(free_pool, "cuMemFree of pool memory", forget(&s->pool, cuMemFree(s->pool.at))) \
	X(free_async_elsewhere, "cuMemFreeAsync elsewhere", forget(&s->pool, cuMemFreeAsync(s->pool.at, s->other))) \
	X(mem_info, "cuMemGetInfo", cuMemGetInfo(&(size_t){0}, &(size_t){0})) \
	X(attribute, "cuPointerGetAttribute", \
	  cuPointerGetAttribute(&(unsigned){0}, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s->device.at)) \
	X(sync_memops, "cuPointerSetAttribute", \
	  cuPointerSetAttribute(&(unsigned){1}, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, s->device.at)) \
	X(range, "cuMemGetAddressRange", cuMemGetAddressRange(NULL, &(size_t){0}, s->device.at)) \
	X(ipc, "cuIpcGetMemHandle", cuIpcGetMemHandle(&(CUipcMemHandle){{0}}, s->device.at)) \
	X(advise, "cuMemAdvise", cuMemAdvise(s->managed.at, 1000, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here())) \
	X(prefetch_elsewhere, "cuMemPrefetchAsync elsewhere", \
	  cuMemPrefetchAsync(s->managed.at, 1000, here(), 0, s->other)) \
	X(prefetch, "cuMemPrefetchAsync", cuMemPrefetchAsync(s->managed.at, 1000, here(), 0, s->at_hand)) \
	X(attach, "cuStreamAttachMemAsync elsewhere", \
	  cuStreamAttachMemAsync(s->other, s->managed.at, 0, CU_MEM_ATTACH_GLOBAL)) \
	X(copy_to, "copy to device", cuMemcpyHtoD(s->device.at, s->plain, 1000)) \
	X(copy_from, "copy from device", cuMemcpyDtoH(s->plain, s->device.at, 1000)) \
	X(copy_between, "copy between devices", cuMemcpyDtoD(s->device.at, s->device.at + 500, 500)) \
	X(copy_async_to_pinned_elsewhere, "async copy elsewhere", \
	  cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->other)) \
	X(copy_async_from_elsewhere, "async copy elsewhere to pageable memory", \
	  cuMemcpyDtoHAsync(s->plain, s->device.at, 1000, s->other)) \
	X(fill, "fill", cuMemsetD8(s->device.at, 1, 1000)) \
	X(fill_async_elsewhere, "async fill elsewhere", cuMemsetD8Async(s->device.at, 1, 1000, s->other)) \
	X(launch_elsewhere, "launch elsewhere", launch_on(s->other)) \
	X(launch_null, "launch on the null stream", launch_on(NULL)) \
	X(query_event, "cuEventQuery", cuEventQuery(s->recorded)) \
	X(query_fresh, "cuEventQuery of an unrecorded event", cuEventQuery(s->fresh)) \
	X(wait_event, "cuEventSynchronize", cuEventSynchronize(s->recorded)) \
	X(record_elsewhere, "cuEventRecord elsewhere", cuEventRecord(s->fresh, s->other)) \
	X(elapsed, "cuEventElapsedTime", cuEventElapsedTime(&(float){0}, s->recorded, s->recorded)) \
	X(record_and_query, "cuEventQuery of an event recorded inside", record(s) ?: cuEventQuery(s->fresh)) \
	X(query_other, "cuStreamQuery elsewhere", cuStreamQuery(s->other)) \
	X(sync_other, "cuStreamSynchronize elsewhere", cuStreamSynchronize(s->other)) \
	X(query_at_hand, "cuStreamQuery", cuStreamQuery(s->at_hand)) \
	X(sync_at_hand, "cuStreamSynchronize", cuStreamSynchronize(s->at_hand)) \
	X(query_null, "cuStreamQuery of the null stream", cuStreamQuery(NULL)) \
	X(sync_null, "cuStreamSynchronize of the null stream", cuStreamSynchronize(NULL)) \
	X(capturing_null, "cuStreamIsCapturing of the null stream", \
	  cuStreamIsCapturing(NULL, &(CUstreamCaptureStatus){0})) \
	X(sync_context, "cuCtxSynchronize", cuCtxSynchronize()) \
	X(create_stream, "cuStreamCreate", cuStreamCreate(&s->made_stream, CU_STREAM_NON_BLOCKING)) \
	X(create_event, "cuEventCreate", cuEventCreate(&s->made_event, 0)) \
	X(load, "cuModuleLoad", cuModuleLoad(&s->module, getenv("GMOD_TEST_KERNELS"))) \
	X(load_and_unload, "cuModuleLoad and cuModuleUnload", load_and_unload(s)) \
	X(load_and_unload_library, "cuLibraryLoadFromFile and cuLibraryUnload", load_and_unload_library(s)) \
	X(function, "cuModuleGetFunction", cuModuleGetFunction(&(CUfunction){0}, tk_module, "k_fill")) \
	X(wait_recorded, "waiting for an event recorded before", cuStreamWaitEvent(s->at_hand, s->recorded, 0)) \
	X(wait_fresh, "waiting for an unrecorded event", cuStreamWaitEvent(s->at_hand, s->fresh, 0)) \
	X(begin_again, "cuStreamBeginCapture", cuStreamBeginCapture(s->at_hand, CU_STREAM_CAPTURE_MODE_GLOBAL)) \
	X(host_register, "cuMemHostRegister", cuMemHostRegister(s->own, OWN_BYTES, 0)) \
	X(host_unregister, "cuMemHostUnregister", host_unregister(s)) \
	X(create, "cuMemCreate", create_physical(&s->made_handle, s->mapped.size, 0)) \
	X(reserve, "cuMemAddressReserve", cuMemAddressReserve(&s->made_range, s->mapped.size, 0, 0, 0)) \
	X(map, "cuMemMap", map(s)) \
	X(set_access, "cuMemSetAccess", make_accessible(s->mapped.at, s->mapped.size)) \
	X(unmap, "cuMemUnmap", unmap(s)) \
	X(release, "cuMemRelease", gone(&s->spare, cuMemRelease(s->spare))) \
	X(write_value, "cuStreamWriteValue32 elsewhere", cuStreamWriteValue32(s->other, s->device.at, 0, 0)) \
	X(context_null, "cuStreamGetCtx of the null stream", cuStreamGetCtx(NULL, &(CUcontext){0})) \
	X(home_legacy, "cuStreamGetCtx_v2 of the legacy stream", home_of(CU_STREAM_LEGACY)) \
	X(home_per_thread, "cuStreamGetCtx_v2 of the per-thread stream", home_of(CU_STREAM_PER_THREAD)) \
	X(home_at_hand, "cuStreamGetCtx_v2", home_of(s->at_hand)) \
	X(batch_captured, "cuMemcpyBatchAsync", batch(s, s->at_hand, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)) \
	X(batch_ephemeral, "cuMemcpyBatchAsync of ephemeral sources", \
	  batch(s, s->at_hand, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)) \
	X(batch_elsewhere, "cuMemcpyBatchAsync elsewhere", batch(s, s->other, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)) \
	X(boxes, "cuMemcpy3DBatchAsync", copy_box(s->device.at, s->device.at + 500, s->at_hand)) \
	X(boxes_elsewhere, "cuMemcpy3DBatchAsync elsewhere", copy_box(s->device.at, s->device.at + 500, s->other)) \
	X(pool_threshold, "cuMemPoolGetAttribute of the threshold", ask_pool(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)) \
	X(pool_reserved, "cuMemPoolGetAttribute of the memory", ask_pool(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)) \
	X(pool_set, "cuMemPoolSetAttribute", \
	  cuMemPoolSetAttribute(own_pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &(cuuint64_t){0})) \
	X(pool_access, "cuMemPoolGetAccess", \
	  cuMemPoolGetAccess(&(CUmemAccess_flags){0}, own_pool(), &(CUmemLocation){here().type, here().id})) \
	X(pool_trim, "cuMemPoolTrimTo", cuMemPoolTrimTo(own_pool(), 0)) \
	X(pool_made, "cuMemPoolCreate and cuMemPoolDestroy", make_pool(s)) \
	X(pool_current, "cuDeviceGetMemPool", cuDeviceGetMemPool(&(CUmemoryPool){0}, tk_device)) \
	X(pool_default, "cuDeviceGetDefaultMemPool", cuDeviceGetDefaultMemPool(&(CUmemoryPool){0}, tk_device)) \
	X(attributes, "cuPointerGetAttributes", ask_attributes(s)) \
	X(stream_flags, "cuStreamGetFlags", cuStreamGetFlags(s->at_hand, &(unsigned){0})) \
	X(device_attribute, "cuDeviceGetAttribute", \
	  cuDeviceGetAttribute(&(int){0}, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, tk_device)) \
	X(retain, "cuMemRetainAllocationHandle", retain(s)) \
	X(host_flags, "cuMemHostGetFlags", cuMemHostGetFlags(&(unsigned){0}, (void *)s->pinned.at)) \
	X(host_pointer, "cuMemHostGetDevicePointer", \
	  cuMemHostGetDevicePointer(&(CUdeviceptr){0}, (void *)s->pinned.at, 0)) \
	X(parameters, "cuFuncGetParamInfo", cuFuncGetParamInfo(tk_kernel("k_fill"), 0, &(size_t){0}, &(size_t){0})) \
	X(function_name, "cuFuncGetName", cuFuncGetName(&(const char *){0}, tk_kernel("k_fill"))) \
	X(push_and_pop, "cuCtxPushCurrent and cuCtxPopCurrent", push_and_pop(s))

#define CAPTURE_CALL(id, name, does) CALL(capture_##id, does)
#define CAPTURE_ROW(id, name, does) {name, capture_##id},

CAPTURE_CALLS(CAPTURE_CALL)

const struct capture_call capture_calls[] = {CAPTURE_CALLS(CAPTURE_ROW){NULL, NULL}};

#define WAIT_CALLS(X) \
	X(free_device, "cuMemFree of device memory", ON_BUSY, KINDS, capture_free_device(s)) \
	X(free_managed, "cuMemFree of managed memory", ON_BUSY, KINDS, capture_free_managed(s)) \
	X(free_pool, "cuMemFree of pool memory", ON_BUSY, KINDS, capture_free_pool(s)) \
	X(free_host, "cuMemFreeHost", ON_BUSY, KINDS, capture_free_host(s)) \
	X(free_async, "cuMemFreeAsync", ON_BUSY, KINDS, forget(&s->pool, cuMemFreeAsync(s->pool.at, s->at_hand))) \
	X(alloc, "cuMemAlloc", ON_BUSY, DEVICE, capture_alloc(s)) \
	X(alloc_large, "cuMemAlloc of 64 MiB", ON_BUSY, DEVICE, cuMemAlloc(made(s, DEVICE), 64 << 20)) \
	X(alloc_managed, "cuMemAllocManaged", ON_BUSY, MANAGED, capture_alloc_managed(s)) \
	X(alloc_host, "cuMemHostAlloc", ON_BUSY, PINNED, capture_alloc_host(s)) \
	X(alloc_async, "cuMemAllocAsync", ON_BUSY, POOL, capture_alloc_async(s)) \
	X(advise, "cuMemAdvise", ON_BUSY, KINDS, capture_advise(s)) \
	X(prefetch_elsewhere, "cuMemPrefetchAsync", ON_BUSY, KINDS, capture_prefetch_elsewhere(s)) \
	X(mem_info, "cuMemGetInfo", ON_BUSY, KINDS, capture_mem_info(s)) \
	X(unload, "cuModuleUnload", ON_BUSY, KINDS, gone(&s->module, cuModuleUnload(s->module))) \
	X(load_again, "cuModuleUnload and cuModuleLoad", ON_BUSY, KINDS, load_again(s)) \
	X(destroy_stream, "cuStreamDestroy", ON_BUSY, KINDS, gone(&s->at_hand, cuStreamDestroy(s->at_hand))) \
	X(destroy_array, "cuArrayDestroy", ON_BUSY, KINDS, gone(&s->array, cuArrayDestroy(s->array))) \
	X(destroy_event, "cuEventDestroy", ON_BUSY, KINDS, gone(&s->fresh, cuEventDestroy(s->fresh))) \
	X(destroy_exec, "cuGraphExecDestroy", ON_BUSY, KINDS, gone(&s->exec, cuGraphExecDestroy(s->exec))) \
	X(record_and_wait, "cuEventSynchronize", ON_BUSY, KINDS, record(s) ?: cuEventSynchronize(s->fresh)) \
	X(record_and_wait_elsewhere, "cuStreamWaitEvent", ON_BUSY, KINDS, \
	  record(s) ?: cuStreamWaitEvent(s->other, s->fresh, 0)) \
	X(copy_to, "copy to device", ON_BUSY, KINDS, capture_copy_to(s)) \
	X(copy_from, "copy from device", ON_BUSY, KINDS, capture_copy_from(s)) \
	X(copy_async_to, "async copy on that stream from pageable memory", ON_BUSY, KINDS, \
	  cuMemcpyHtoDAsync(s->device.at, s->plain, 1000, s->at_hand)) \
	X(copy_async_from, "async copy on that stream to pageable memory", ON_BUSY, KINDS, \
	  cuMemcpyDtoHAsync(s->plain, s->device.at, 1000, s->at_hand)) \
	X(copy_async_to_pinned, "async copy on that stream to pinned memory", ON_BUSY, KINDS, \
	  cuMemcpyDtoHAsync((void *)s->pinned.at, s->device.at, 1000, s->at_hand)) \
	X(copy_async_to_pinned_elsewhere, "async copy on a third stream", ON_BUSY, KINDS, \
	  capture_copy_async_to_pinned_elsewhere(s)) \
	X(fill_async, "async fill on that stream", ON_BUSY, KINDS, cuMemsetD8Async(s->device.at, 1, 1000, s->at_hand)) \
	X(fill, "fill of device memory", ON_BUSY, KINDS, capture_fill(s)) \
	X(sync_null, "synchronising the null stream", ON_BUSY, KINDS, capture_sync_null(s)) \
	X(copy_to, "copy to device", ON_NULL, KINDS, capture_copy_to(s)) \
	X(copy_to_from_pinned, "copy to device from pinned memory", ON_NULL, KINDS, \
	  cuMemcpyHtoD(s->device.at, (void *)s->pinned.at, 1000)) \
	X(copy_from, "copy from device", ON_NULL, KINDS, capture_copy_from(s)) \
	X(copy_managed_to_plain, "copy from managed memory", ON_NULL, KINDS, \
	  cuMemcpyDtoH(s->plain, s->managed.at, 1000)) \
	X(copy_between, "copy between devices", ON_NULL, KINDS, capture_copy_between(s)) \
	X(copy_between_managed, "copy within managed memory", ON_NULL, KINDS, \
	  cuMemcpyDtoD(s->managed.at, s->managed.at + 500, 500)) \
	X(fill, "fill of device memory", ON_NULL, KINDS, capture_fill(s)) \
	X(fill_managed, "fill of managed memory", ON_NULL, KINDS, cuMemsetD8(s->managed.at, 1, 1000)) \
	X(fill_pinned, "fill of pinned memory", ON_NULL, KINDS, cuMemsetD8(s->pinned.at, 1, 1000)) \
	X(sync_other, "synchronising a non-blocking stream", ON_NULL, KINDS, capture_sync_other(s)) \
	X(sync_null, "synchronising the null stream", ON_BLOCKING, KINDS, capture_sync_null(s)) \
	X(ask_null, "asking the null stream", ON_BLOCKING, KINDS, ask_null(s)) \
	X(copy_to, "copy to device", ON_BLOCKING, KINDS, capture_copy_to(s)) \
	X(copy_to, "copy to device", ON_PER_THREAD, KINDS, capture_copy_to(s)) \
	X(sync_per_thread, "synchronising the per-thread stream", ON_BLOCKING, KINDS, \
	  cuStreamSynchronize(CU_STREAM_PER_THREAD)) \
	X(sync_per_thread, "synchronising the per-thread stream", ON_NULL, KINDS, wait_sync_per_thread_ON_BLOCKING(s)) \
	X(host_register, "cuMemHostRegister", ON_BUSY, KINDS, capture_host_register(s)) \
	X(host_unregister, "cuMemHostUnregister", ON_BUSY, KINDS, capture_host_unregister(s)) \
	X(create, "cuMemCreate", ON_BUSY, KINDS, capture_create(s)) \
	X(map, "cuMemMap", ON_BUSY, KINDS, capture_map(s)) \
	X(set_access, "cuMemSetAccess", ON_BUSY, KINDS, capture_set_access(s)) \
	X(map_and_set_access, "cuMemMap and cuMemSetAccess", ON_BUSY, KINDS, \
	  map(s) ?: make_accessible(s->range, s->mapped.size)) \
	X(release, "cuMemRelease", ON_BUSY, KINDS, capture_release(s)) \
	X(unmap, "cuMemUnmap", ON_BUSY, KINDS, capture_unmap(s)) \
	X(copy_managed_to_device, "copy from managed to device memory", ON_NULL, KINDS, \
	  cuMemcpyDtoD(s->device.at, s->managed.at, 1000))

#define WAIT_CALL(id, name, where, take, does) CALL(wait_##id##_##where, does)
#define WAIT_ROW(id, name, where, take, does) {name, wait_##id##_##where, where, take},

WAIT_CALLS(WAIT_CALL)

const struct wait_call wait_calls[] = {WAIT_CALLS(WAIT_ROW){NULL, NULL, ON_BUSY, KINDS}};
