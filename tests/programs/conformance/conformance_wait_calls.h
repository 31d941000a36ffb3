/* The calls whose waiting is measured, one function each. */
#ifndef GMOD_CONFORMANCE_WAIT_CALLS_H
#define GMOD_CONFORMANCE_WAIT_CALLS_H

#include "conformance.h"

struct scene {
	CUstream busy, other; /* non-blocking; the kernel runs on busy, or where the fact says */
	struct memory device, managed, pinned, pool;
	char *plain;
	CUmodule module;
	CUcontext context;
	CUarray array;
	CUevent event;
	CUgraphExec exec;
	struct memory mapped;
	CUmemGenericAllocationHandle made, spare; /* spare: as large as mapped, mapped nowhere; its place is range */
	CUdeviceptr range;
	int spare_is_mapped;
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

static void new_spare(struct scene *s)
{
	CK(create_physical(&s->spare, s->mapped.size, 0));
	CK(cuMemAddressReserve(&s->range, s->mapped.size, 0, 0, 0));
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
	s->mapped = memory_new(VMM);
	new_spare(s);
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
	if (s->mapped.at)
		memory_free(&s->mapped);
	if (s->spare_is_mapped)
		CK(cuMemUnmap(s->range, s->mapped.size));
	if (s->spare)
		CK(cuMemRelease(s->spare));
	if (s->made)
		CK(cuMemRelease(s->made));
	CK(cuMemAddressFree(s->range, s->mapped.size));
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

static CUresult host_unregister(struct scene *s)
{
	(void)s;
	return cuMemHostUnregister(to_register);
}

static CUresult create(struct scene *s)
{
	return create_physical(&s->made, s->mapped.size, 0);
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

static CUresult release(struct scene *s)
{
	CUmemGenericAllocationHandle handle = s->spare;

	s->spare = 0;
	return cuMemRelease(handle);
}

static CUresult unmap(struct scene *s)
{
	CUresult r = cuMemUnmap(s->mapped.at, s->mapped.size);

	CK(cuMemAddressFree(s->mapped.at, s->mapped.size));
	CK(cuMemRelease(s->mapped.handle));
	s->mapped.at = 0;
	return r;
}

static CUresult copy_managed_to_device(struct scene *s)
{
	return cuMemcpyDtoD(s->device.at, s->managed.at, 1000);
}

static CUresult mem_info(struct scene *s)
{
	size_t a, b;

	(void)s;
	return cuMemGetInfo(&a, &b);
}

#endif
