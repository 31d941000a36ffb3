/* The calls that are made beside a capture, one function each. */
#ifndef GMOD_CONFORMANCE_CAPTURE_CALLS_H
#define GMOD_CONFORMANCE_CAPTURE_CALLS_H

#include "conformance.h"

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
	struct memory registered, mapped;
	char *own; /* pages to register */
	CUmemGenericAllocationHandle spare, made_handle;
	CUdeviceptr range, made_range; /* range: where spare can be mapped */
	int spare_is_mapped;
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

static CUresult c_load_and_unload(struct capture_scene *s)
{
	CUmodule module;
	CUresult r = cuModuleLoad(&module, getenv("GMOD_TEST_KERNELS"));

	(void)s;
	return r ? r : cuModuleUnload(module);
}

static CUresult c_load_and_unload_library(struct capture_scene *s)
{
	CUlibrary library;
	CUresult r = cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0);

	(void)s;
	return r ? r : cuLibraryUnload(library);
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

static CUresult c_register(struct capture_scene *s)
{
	return cuMemHostRegister(s->own, 8192, 0);
}

static CUresult c_unregister(struct capture_scene *s)
{
	CUresult r = cuMemHostUnregister(s->registered.own);

	if (!r)
		free(s->registered.own);
	return forget(&s->registered, r);
}

static CUresult c_create(struct capture_scene *s)
{
	return create_physical(&s->made_handle, s->mapped.size, 0);
}

static CUresult c_reserve(struct capture_scene *s)
{
	return cuMemAddressReserve(&s->made_range, s->mapped.size, 0, 0, 0);
}

static CUresult c_map(struct capture_scene *s)
{
	CUresult r = cuMemMap(s->range, s->mapped.size, 0, s->spare, 0);

	s->spare_is_mapped = !r;
	return r;
}

static CUresult c_set_access(struct capture_scene *s)
{
	return make_accessible(s->mapped.at, s->mapped.size);
}

static CUresult c_unmap(struct capture_scene *s)
{
	CUresult r = cuMemUnmap(s->mapped.at, s->mapped.size);

	if (!r) {
		CK(cuMemAddressFree(s->mapped.at, s->mapped.size));
		CK(cuMemRelease(s->mapped.handle));
	}
	return forget(&s->mapped, r);
}

static CUresult c_release(struct capture_scene *s)
{
	CUresult r = cuMemRelease(s->spare);

	if (!r)
		s->spare = 0;
	return r;
}

static CUresult c_write_value(struct capture_scene *s)
{
	return cuStreamWriteValue32(s->other, s->device.at, 0, 0);
}

static CUresult c_context_null(struct capture_scene *s)
{
	CUcontext c;

	(void)s;
	return cuStreamGetCtx(NULL, &c);
}

static CUresult home(CUstream s)
{
	CUgreenCtx green;
	CUcontext c;

	return cuStreamGetCtx_v2(s, &c, &green);
}

static CUresult c_home_legacy(struct capture_scene *s)
{
	(void)s;
	return home(CU_STREAM_LEGACY);
}

static CUresult c_home_per_thread(struct capture_scene *s)
{
	(void)s;
	return home(CU_STREAM_PER_THREAD);
}

static CUresult c_home_captured(struct capture_scene *s)
{
	return home(s->captured);
}

static CUresult batch(struct capture_scene *s, CUstream stream, CUmemcpySrcAccessOrder order)
{
	return copy_batch(s->device.at, s->device.at + 500, 1, order, stream);
}

static CUresult c_batch(struct capture_scene *s)
{
	return batch(s, s->captured, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
}

static CUresult c_batch_ephemeral(struct capture_scene *s)
{
	return batch(s, s->captured, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
}

static CUresult c_batch_elsewhere(struct capture_scene *s)
{
	return batch(s, s->other, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
}

static CUresult c_boxes(struct capture_scene *s)
{
	return copy_box(s->device.at, s->device.at + 500, s->captured);
}

static CUresult c_boxes_elsewhere(struct capture_scene *s)
{
	return copy_box(s->device.at, s->device.at + 500, s->other);
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
    {"cuModuleLoad and cuModuleUnload", c_load_and_unload},
    {"cuLibraryLoadFromFile and cuLibraryUnload", c_load_and_unload_library},
    {"cuModuleGetFunction", c_function},
    {"waiting for an event recorded before", c_wait_recorded},
    {"waiting for an unrecorded event", c_wait_fresh},
    {"cuStreamBeginCapture", c_begin_again},
    {"cuMemHostRegister", c_register},
    {"cuMemHostUnregister", c_unregister},
    {"cuMemCreate", c_create},
    {"cuMemAddressReserve", c_reserve},
    {"cuMemMap", c_map},
    {"cuMemSetAccess", c_set_access},
    {"cuMemUnmap", c_unmap},
    {"cuMemRelease", c_release},
    {"cuStreamWriteValue32 elsewhere", c_write_value},
    {"cuStreamGetCtx of the null stream", c_context_null},
    {"cuStreamGetCtx_v2 of the legacy stream", c_home_legacy},
    {"cuStreamGetCtx_v2 of the per-thread stream", c_home_per_thread},
    {"cuStreamGetCtx_v2", c_home_captured},
    {"cuMemcpyBatchAsync", c_batch},
    {"cuMemcpyBatchAsync of ephemeral sources", c_batch_ephemeral},
    {"cuMemcpyBatchAsync elsewhere", c_batch_elsewhere},
    {"cuMemcpy3DBatchAsync", c_boxes},
    {"cuMemcpy3DBatchAsync elsewhere", c_boxes_elsewhere},
};

#endif
