/*
 * Written by scripts/hooks from lib/driver/entrypoints.def: the hooks that are told by a role. What a role does is in
 * lib/hooks/call.h and, of LAUNCH and LAUNCH_CONFIG, in lib/hooks/launching.h; of BY, where lib/hooks/family.h says.
 */
/* clang-format off */
#include "lib/hooks/call.h"
#include "lib/hooks/family.h"
#include "lib/hooks/launching.h"

GMOD_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
	struct gmod_launching l = gmod_launching_begin(gmod_handle(f), hStream, GMOD_LEGACY, false, kernelParams, extra);

	gmod_launching_shape(&l, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, NULL);
	return gmod_launching_end(&l, NEXT(cuLaunchKernel)(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams, extra), __func__);
}

GMOD_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
	struct gmod_launching l = gmod_launching_begin(gmod_handle(f), hStream, GMOD_PER_THREAD, false, kernelParams, extra);

	gmod_launching_shape(&l, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, NULL);
	return gmod_launching_end(&l, NEXT(cuLaunchKernel_ptsz)(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams, extra), __func__);
}

GMOD_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
	struct gmod_launching l = gmod_launching_begin_config(config, gmod_handle(f), GMOD_LEGACY, kernelParams, extra);

	return gmod_launching_end(&l, NEXT(cuLaunchKernelEx)(config, f, kernelParams, extra), __func__);
}

GMOD_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
	struct gmod_launching l = gmod_launching_begin_config(config, gmod_handle(f), GMOD_PER_THREAD, kernelParams, extra);

	return gmod_launching_end(&l, NEXT(cuLaunchKernelEx_ptsz)(config, f, kernelParams, extra), __func__);
}

GMOD_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)
{
	struct gmod_launching l = gmod_launching_begin(gmod_handle(f), hStream, GMOD_LEGACY, false, kernelParams, NULL);

	gmod_launching_shape(&l, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, NULL);
	return gmod_launching_end(&l, NEXT(cuLaunchCooperativeKernel)(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams), __func__);
}

GMOD_EXPORT CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)
{
	struct gmod_launching l = gmod_launching_begin(gmod_handle(f), hStream, GMOD_PER_THREAD, false, kernelParams, NULL);

	gmod_launching_shape(&l, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, NULL);
	return gmod_launching_end(&l, NEXT(cuLaunchCooperativeKernel_ptsz)(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams), __func__);
}

GMOD_EXPORT CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
	struct gmod_launching l = gmod_launching_begin(gmod_handle(hGraph), hStream, GMOD_LEGACY, true, NULL, NULL);

	return gmod_launching_end(&l, NEXT(cuGraphLaunch)(hGraph, hStream), __func__);
}

GMOD_EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec hGraph, CUstream hStream)
{
	struct gmod_launching l = gmod_launching_begin(gmod_handle(hGraph), hStream, GMOD_PER_THREAD, true, NULL, NULL);

	return gmod_launching_end(&l, NEXT(cuGraphLaunch_ptsz)(hGraph, hStream), __func__);
}

GMOD_EXPORT CUresult cuMemFreeAsync(CUdeviceptr_v2 dptr, CUstream hStream)
{
	return gmod_free_in_order(dptr, hStream, GMOD_LEGACY, NEXT(cuMemFreeAsync), __func__);
}

GMOD_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr_v2 dptr, CUstream hStream)
{
	return gmod_free_in_order(dptr, hStream, GMOD_PER_THREAD, NEXT(cuMemFreeAsync_ptsz), __func__);
}

GMOD_EXPORT CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies, CUgraphNodeParams *nodeParams)
{
	return gmod_node_added(NEXT(cuGraphAddNode)(phGraphNode, hGraph, dependencies, numDependencies, nodeParams), nodeParams, __func__);
}

GMOD_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams)
{
	return gmod_node_added(NEXT(cuGraphAddNode_v2)(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams), nodeParams, __func__);
}

GMOD_EXPORT CUresult cuGraphAddNode_v3(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams)
{
	return gmod_node_added(NEXT(cuGraphAddNode_v3)(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams), nodeParams, __func__);
}

GMOD_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr_v2 *pdptr, CUipcMemHandle_v1 handle, unsigned int Flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.ipc_imports};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuIpcOpenMemHandle)(pdptr, handle, Flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr_v2 *pdptr, CUipcMemHandle_v1 handle, unsigned int Flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.ipc_imports};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuIpcOpenMemHandle_v2)(pdptr, handle, Flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle_v1 *handle, void *osHandle, CUmemAllocationHandleType shHandleType)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.ipc_imports};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuMemImportFromShareableHandle)(handle, osHandle, shHandleType)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr_v2 *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData_v1 *shareData)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.pool_imports};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuMemPoolImportPointer)(ptr_out, pool, shareData)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr_v2 *devPtr, CUexternalMemory extMem, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1 *bufferDesc)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.external_mappings};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuExternalMemoryGetMappedBuffer)(devPtr, extMem, bufferDesc)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr_v2 *pDevPtr, size_t *pSize, CUgraphicsResource resource)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.graphics_mappings};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuGraphicsResourceGetMappedPointer_v2)(pDevPtr, pSize, resource)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size, unsigned long long flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.multicast_bindings};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuMulticastBindMem)(mcHandle, mcOffset, memHandle, memOffset, size, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size, unsigned long long flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.multicast_bindings};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuMulticastBindMem_v2)(mcHandle, dev, mcOffset, memHandle, memOffset, size, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr, size_t size, unsigned long long flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.multicast_bindings};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuMulticastBindAddr)(mcHandle, mcOffset, memptr, size, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, CUdeviceptr memptr, size_t size, unsigned long long flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.multicast_bindings};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuMulticastBindAddr_v2)(mcHandle, dev, mcOffset, memptr, size, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemBatchDecompressAsync(CUmemDecompressParams *paramsArray, size_t count, unsigned int flags, size_t *errorIndex, CUstream stream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .counter = &gmod_counters.decompressions, .stream = stream};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuMemBatchDecompressAsync)(paramsArray, count, flags, errorIndex, stream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemBatchDecompressAsync_ptsz(CUmemDecompressParams *paramsArray, size_t count, unsigned int flags, size_t *errorIndex, CUstream stream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .counter = &gmod_counters.decompressions, .stream = stream};

	return gmod_call_begin(GMOD_FOREIGN, &c) ? gmod_call_end(GMOD_FOREIGN, &c, NEXT(cuMemBatchDecompressAsync_ptsz)(paramsArray, count, flags, errorIndex, stream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemAdvise(CUdeviceptr_v2 devPtr, size_t count, CUmem_advise advice, CUdevice_v1 device)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = devPtr, .size = count};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemAdvise)(devPtr, count, advice, device)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemAdvise_v2(CUdeviceptr_v2 devPtr, size_t count, CUmem_advise advice, CUmemLocation_v1 location)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = devPtr, .size = count};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemAdvise_v2)(devPtr, count, advice, location)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr_v2 devPtr, size_t count, CUdevice_v1 dstDevice, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = devPtr, .size = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemPrefetchAsync)(devPtr, count, dstDevice, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr_v2 devPtr, size_t count, CUdevice_v1 dstDevice, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = devPtr, .size = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemPrefetchAsync_ptsz)(devPtr, count, dstDevice, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr_v2 devPtr, size_t count, CUmemLocation_v1 location, unsigned int flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = devPtr, .size = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemPrefetchAsync_v2)(devPtr, count, location, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr_v2 devPtr, size_t count, CUmemLocation_v1 location, unsigned int flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = devPtr, .size = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemPrefetchAsync_v2_ptsz)(devPtr, count, location, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count, CUmemLocation_v1 *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dsts = dptrs, .sizes = sizes, .count = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemPrefetchBatchAsync)(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count, CUmemLocation_v1 *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dsts = dptrs, .sizes = sizes, .count = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemPrefetchBatchAsync_ptsz)(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemDiscardBatchAsync(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dsts = dptrs, .sizes = sizes, .count = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemDiscardBatchAsync)(dptrs, sizes, count, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dsts = dptrs, .sizes = sizes, .count = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemDiscardBatchAsync_ptsz)(dptrs, sizes, count, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count, CUmemLocation_v1 *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dsts = dptrs, .sizes = sizes, .count = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemDiscardAndPrefetchBatchAsync)(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr_v2 *dptrs, size_t *sizes, size_t count, CUmemLocation_v1 *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dsts = dptrs, .sizes = sizes, .count = count, .stream = hStream};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemDiscardAndPrefetchBatchAsync_ptsz)(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr_v2 devPtr, size_t count)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = devPtr, .size = count};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemRangeGetAttribute)(data, dataSize, attribute, devPtr, count)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t numAttributes, CUdeviceptr_v2 devPtr, size_t count)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = devPtr, .size = count};

	return gmod_call_begin(GMOD_ADVICE, &c) ? gmod_call_end(GMOD_ADVICE, &c, NEXT(cuMemRangeGetAttributes)(data, dataSizes, attributes, numAttributes, devPtr, count)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr_v2 dptr, size_t length, unsigned int flags)
{
	return gmod_attach(hStream, dptr, length, flags, NEXT(cuStreamAttachMemAsync), __func__);
}

GMOD_EXPORT CUresult cuStreamAttachMemAsync_ptsz(CUstream hStream, CUdeviceptr_v2 dptr, size_t length, unsigned int flags)
{
	return gmod_attach(hStream, dptr, length, flags, NEXT(cuStreamAttachMemAsync_ptsz), __func__);
}

GMOD_EXPORT CUresult cuMemcpy(CUdeviceptr_v2 dst, CUdeviceptr_v2 src, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dst, .src = src, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy)(dst, src, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy_ptds(CUdeviceptr_v2 dst, CUdeviceptr_v2 src, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dst, .src = src, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy_ptds)(dst, src, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAsync(CUdeviceptr_v2 dst, CUdeviceptr_v2 src, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dst, .src = src, .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAsync)(dst, src, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAsync_ptsz(CUdeviceptr_v2 dst, CUdeviceptr_v2 src, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dst, .src = src, .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAsync_ptsz)(dst, src, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyPeer(CUdeviceptr_v2 dstDevice, CUcontext dstContext, CUdeviceptr_v2 srcDevice, CUcontext srcContext, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dstDevice, .src = srcDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyPeer)(dstDevice, dstContext, srcDevice, srcContext, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyPeer_ptds(CUdeviceptr_v2 dstDevice, CUcontext dstContext, CUdeviceptr_v2 srcDevice, CUcontext srcContext, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dstDevice, .src = srcDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyPeer_ptds)(dstDevice, dstContext, srcDevice, srcContext, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr_v2 dstDevice, CUcontext dstContext, CUdeviceptr_v2 srcDevice, CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dstDevice, .src = srcDevice, .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyPeerAsync)(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr_v2 dstDevice, CUcontext dstContext, CUdeviceptr_v2 srcDevice, CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dstDevice, .src = srcDevice, .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyPeerAsync_ptsz)(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr_v2 dstDevice, const void *srcHost, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dstDevice, .src = gmod_handle(srcHost), .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyHtoD_v2)(dstDevice, srcHost, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr_v2 dstDevice, const void *srcHost, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dstDevice, .src = gmod_handle(srcHost), .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyHtoD_v2_ptds)(dstDevice, srcHost, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = gmod_handle(dstHost), .src = srcDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY_TO_HOST, &c) ? gmod_call_end(GMOD_COPY_TO_HOST, &c, NEXT(cuMemcpyDtoH_v2)(dstHost, srcDevice, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = gmod_handle(dstHost), .src = srcDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY_TO_HOST, &c) ? gmod_call_end(GMOD_COPY_TO_HOST, &c, NEXT(cuMemcpyDtoH_v2_ptds)(dstHost, srcDevice, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr_v2 dstDevice, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dstDevice, .src = srcDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyDtoD_v2)(dstDevice, srcDevice, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr_v2 dstDevice, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dstDevice, .src = srcDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyDtoD_v2_ptds)(dstDevice, srcDevice, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .src = srcDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyDtoA_v2)(dstArray, dstOffset, srcDevice, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoA_v2_ptds(CUarray dstArray, size_t dstOffset, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .src = srcDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyDtoA_v2_ptds)(dstArray, dstOffset, srcDevice, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAtoD_v2(CUdeviceptr_v2 dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dstDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAtoD_v2)(dstDevice, srcArray, srcOffset, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr_v2 dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dstDevice, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAtoD_v2_ptds)(dstDevice, srcArray, srcOffset, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .src = gmod_handle(srcHost), .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyHtoA_v2)(dstArray, dstOffset, srcHost, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyHtoA_v2_ptds(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .src = gmod_handle(srcHost), .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyHtoA_v2_ptds)(dstArray, dstOffset, srcHost, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = gmod_handle(dstHost), .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAtoH_v2)(dstHost, srcArray, srcOffset, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAtoH_v2_ptds(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = gmod_handle(dstHost), .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAtoH_v2_ptds)(dstHost, srcArray, srcOffset, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAtoA_v2)(dstArray, dstOffset, srcArray, srcOffset, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAtoA_v2_ptds(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .size = ByteCount};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAtoA_v2_ptds)(dstArray, dstOffset, srcArray, srcOffset, ByteCount)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .src = gmod_handle(srcHost), .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyHtoAAsync_v2)(dstArray, dstOffset, srcHost, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .src = gmod_handle(srcHost), .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyHtoAAsync_v2_ptsz)(dstArray, dstOffset, srcHost, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = gmod_handle(dstHost), .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAtoHAsync_v2)(dstHost, srcArray, srcOffset, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = gmod_handle(dstHost), .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyAtoHAsync_v2_ptsz)(dstHost, srcArray, srcOffset, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D_v2 *pCopy)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .rows = pCopy};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy2D_v2)(pCopy)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D_v2 *pCopy)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .rows = pCopy};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy2D_v2_ptds)(pCopy)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D_v2 *pCopy)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .rows = pCopy};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy2DUnaligned_v2)(pCopy)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D_v2 *pCopy)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .rows = pCopy};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy2DUnaligned_v2_ptds)(pCopy)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D_v2 *pCopy)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .box = pCopy};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy3D_v2)(pCopy)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D_v2 *pCopy)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .box = pCopy};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy3D_v2_ptds)(pCopy)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER_v1 *pCopy)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .peer_box = pCopy};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy3DPeer)(pCopy)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER_v1 *pCopy)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .peer_box = pCopy};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy3DPeer_ptds)(pCopy)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr_v2 dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dstDevice, .src = gmod_handle(srcHost), .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyHtoDAsync_v2)(dstDevice, srcHost, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr_v2 dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dstDevice, .src = gmod_handle(srcHost), .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyHtoDAsync_v2_ptsz)(dstDevice, srcHost, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr_v2 srcDevice, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = gmod_handle(dstHost), .src = srcDevice, .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyDtoHAsync_v2)(dstHost, srcDevice, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dstHost, CUdeviceptr_v2 srcDevice, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = gmod_handle(dstHost), .src = srcDevice, .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyDtoHAsync_v2_ptsz)(dstHost, srcDevice, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr_v2 dstDevice, CUdeviceptr_v2 srcDevice, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = dstDevice, .src = srcDevice, .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyDtoDAsync_v2)(dstDevice, srcDevice, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr_v2 dstDevice, CUdeviceptr_v2 srcDevice, size_t ByteCount, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = dstDevice, .src = srcDevice, .size = ByteCount, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpyDtoDAsync_v2_ptsz)(dstDevice, srcDevice, ByteCount, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D_v2 *pCopy, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .rows = pCopy, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy2DAsync_v2)(pCopy, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D_v2 *pCopy, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .rows = pCopy, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy2DAsync_v2_ptsz)(pCopy, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D_v2 *pCopy, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .box = pCopy, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy3DAsync_v2)(pCopy, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D_v2 *pCopy, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .box = pCopy, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy3DAsync_v2_ptsz)(pCopy, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER_v1 *pCopy, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .peer_box = pCopy, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy3DPeerAsync)(pCopy, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER_v1 *pCopy, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .peer_box = pCopy, .stream = hStream};

	return gmod_call_begin(GMOD_COPY, &c) ? gmod_call_end(GMOD_COPY, &c, NEXT(cuMemcpy3DPeerAsync_ptsz)(pCopy, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr_v2 *dsts, CUdeviceptr_v2 *srcs, size_t *sizes, size_t count, CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dsts = dsts, .srcs = srcs, .sizes = sizes, .count = count, .failed = failIdx, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpyBatchAsync)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr_v2 *dsts, CUdeviceptr_v2 *srcs, size_t *sizes, size_t count, CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dsts = dsts, .srcs = srcs, .sizes = sizes, .count = count, .failed = failIdx, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpyBatchAsync_ptsz)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, failIdx, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr_v2 *dsts, CUdeviceptr_v2 *srcs, size_t *sizes, size_t count, CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dsts = dsts, .srcs = srcs, .sizes = sizes, .count = count, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpyBatchAsync_v2)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr_v2 *dsts, CUdeviceptr_v2 *srcs, size_t *sizes, size_t count, CUmemcpyAttributes_v1 *attrs, size_t *attrIdxs, size_t numAttrs, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dsts = dsts, .srcs = srcs, .sizes = sizes, .count = count, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpyBatchAsync_v2_ptsz)(dsts, srcs, sizes, count, attrs, attrIdxs, numAttrs, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .boxes = opList, .count = numParams, .failed = failIdx, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpy3DBatchAsync)(numParams, opList, failIdx, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_ptsz(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, size_t *failIdx, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .boxes = opList, .count = numParams, .failed = failIdx, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpy3DBatchAsync_ptsz)(numParams, opList, failIdx, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .boxes = opList, .count = numParams, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpy3DBatchAsync_v2)(numParams, opList, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t numParams, CUDA_MEMCPY3D_BATCH_OP_v1 *opList, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .boxes = opList, .count = numParams, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpy3DBatchAsync_v2_ptsz)(numParams, opList, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dsts = &dst, .srcs = &src, .sizes = &size, .count = 1, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpyWithAttributesAsync)(dst, src, size, attr, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dsts = &dst, .srcs = &src, .sizes = &size, .count = 1, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpyWithAttributesAsync_ptsz)(dst, src, size, attr, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .boxes = op, .count = 1, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpy3DWithAttributesAsync)(op, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .boxes = op, .count = 1, .stream = hStream};

	return gmod_call_begin(GMOD_COPIES, &c) ? gmod_call_end(GMOD_COPIES, &c, NEXT(cuMemcpy3DWithAttributesAsync_ptsz)(op, flags, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr_v2 dstDevice, unsigned char uc, size_t N)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .height = 1, .element = 1, .dst = dstDevice, .width = N};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD8_v2)(dstDevice, uc, N)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD8_v2_ptds(CUdeviceptr_v2 dstDevice, unsigned char uc, size_t N)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .height = 1, .element = 1, .dst = dstDevice, .width = N};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD8_v2_ptds)(dstDevice, uc, N)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr_v2 dstDevice, unsigned short us, size_t N)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .height = 1, .element = 2, .dst = dstDevice, .width = N};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD16_v2)(dstDevice, us, N)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD16_v2_ptds(CUdeviceptr_v2 dstDevice, unsigned short us, size_t N)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .height = 1, .element = 2, .dst = dstDevice, .width = N};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD16_v2_ptds)(dstDevice, us, N)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr_v2 dstDevice, unsigned int ui, size_t N)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .height = 1, .element = 4, .dst = dstDevice, .width = N};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD32_v2)(dstDevice, ui, N)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD32_v2_ptds(CUdeviceptr_v2 dstDevice, unsigned int ui, size_t N)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .height = 1, .element = 4, .dst = dstDevice, .width = N};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD32_v2_ptds)(dstDevice, ui, N)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .element = 1, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D8_v2)(dstDevice, dstPitch, uc, Width, Height)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .element = 1, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D8_v2_ptds)(dstDevice, dstPitch, uc, Width, Height)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .element = 2, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D16_v2)(dstDevice, dstPitch, us, Width, Height)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .element = 2, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D16_v2_ptds)(dstDevice, dstPitch, us, Width, Height)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .element = 4, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D32_v2)(dstDevice, dstPitch, ui, Width, Height)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .element = 4, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D32_v2_ptds)(dstDevice, dstPitch, ui, Width, Height)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD8Async(CUdeviceptr_v2 dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .height = 1, .element = 1, .dst = dstDevice, .width = N, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD8Async)(dstDevice, uc, N, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD8Async_ptsz(CUdeviceptr_v2 dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .height = 1, .element = 1, .dst = dstDevice, .width = N, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD8Async_ptsz)(dstDevice, uc, N, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD16Async(CUdeviceptr_v2 dstDevice, unsigned short us, size_t N, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .height = 1, .element = 2, .dst = dstDevice, .width = N, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD16Async)(dstDevice, us, N, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD16Async_ptsz(CUdeviceptr_v2 dstDevice, unsigned short us, size_t N, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .height = 1, .element = 2, .dst = dstDevice, .width = N, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD16Async_ptsz)(dstDevice, us, N, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD32Async(CUdeviceptr_v2 dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .height = 1, .element = 4, .dst = dstDevice, .width = N, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD32Async)(dstDevice, ui, N, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD32Async_ptsz(CUdeviceptr_v2 dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .height = 1, .element = 4, .dst = dstDevice, .width = N, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD32Async_ptsz)(dstDevice, ui, N, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .element = 1, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D8Async)(dstDevice, dstPitch, uc, Width, Height, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .element = 1, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D8Async_ptsz)(dstDevice, dstPitch, uc, Width, Height, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .element = 2, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D16Async)(dstDevice, dstPitch, us, Width, Height, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .element = 2, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D16Async_ptsz)(dstDevice, dstPitch, us, Width, Height, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .element = 4, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D32Async)(dstDevice, dstPitch, ui, Width, Height, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr_v2 dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .element = 4, .dst = dstDevice, .pitch = dstPitch, .width = Width, .height = Height, .stream = hStream};

	return gmod_call_begin(GMOD_FILL, &c) ? gmod_call_end(GMOD_FILL, &c, NEXT(cuMemsetD2D32Async_ptsz)(dstDevice, dstPitch, ui, Width, Height, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuCtxSynchronize(void)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__};

	return gmod_call_begin(GMOD_WAIT_CONTEXT, &c) ? gmod_call_end(GMOD_WAIT_CONTEXT, &c, NEXT(cuCtxSynchronize)()) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .context = gmod_handle(ctx)};

	return gmod_call_begin(GMOD_WAIT_CONTEXT, &c) ? gmod_call_end(GMOD_WAIT_CONTEXT, &c, NEXT(cuCtxSynchronize_v2)(ctx)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamSynchronize(CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_WAIT, &c) ? gmod_call_end(GMOD_WAIT, &c, NEXT(cuStreamSynchronize)(hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_WAIT, &c) ? gmod_call_end(GMOD_WAIT, &c, NEXT(cuStreamSynchronize_ptsz)(hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamQuery(CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_WAIT, &c) ? gmod_call_end(GMOD_WAIT, &c, NEXT(cuStreamQuery)(hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamQuery_ptsz(CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_WAIT, &c) ? gmod_call_end(GMOD_WAIT, &c, NEXT(cuStreamQuery_ptsz)(hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuEventSynchronize(CUevent hEvent)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .event = gmod_handle(hEvent)};

	return gmod_call_begin(GMOD_WAIT_EVENT, &c) ? gmod_call_end(GMOD_WAIT_EVENT, &c, NEXT(cuEventSynchronize)(hEvent)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuEventQuery(CUevent hEvent)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .event = gmod_handle(hEvent)};

	return gmod_call_begin(GMOD_WAIT_EVENT, &c) ? gmod_call_end(GMOD_WAIT_EVENT, &c, NEXT(cuEventQuery)(hEvent)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .event = gmod_handle(hEvent), .stream = hStream};

	return gmod_call_begin(GMOD_RECORD, &c) ? gmod_call_end(GMOD_RECORD, &c, NEXT(cuEventRecord)(hEvent, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuEventRecord_ptsz(CUevent hEvent, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .event = gmod_handle(hEvent), .stream = hStream};

	return gmod_call_begin(GMOD_RECORD, &c) ? gmod_call_end(GMOD_RECORD, &c, NEXT(cuEventRecord_ptsz)(hEvent, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .event = gmod_handle(hEvent), .stream = hStream};

	return gmod_call_begin(GMOD_RECORD, &c) ? gmod_call_end(GMOD_RECORD, &c, NEXT(cuEventRecordWithFlags)(hEvent, hStream, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuEventRecordWithFlags_ptsz(CUevent hEvent, CUstream hStream, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .event = gmod_handle(hEvent), .stream = hStream};

	return gmod_call_begin(GMOD_RECORD, &c) ? gmod_call_end(GMOD_RECORD, &c, NEXT(cuEventRecordWithFlags_ptsz)(hEvent, hStream, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream, .event = gmod_handle(hEvent)};

	return gmod_call_begin(GMOD_JOIN, &c) ? gmod_call_end(GMOD_JOIN, &c, NEXT(cuStreamWaitEvent)(hStream, hEvent, Flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream, .event = gmod_handle(hEvent)};

	return gmod_call_begin(GMOD_JOIN, &c) ? gmod_call_end(GMOD_JOIN, &c, NEXT(cuStreamWaitEvent_ptsz)(hStream, hEvent, Flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamDestroy(CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_DESTROY_STREAM, &c) ? gmod_call_end(GMOD_DESTROY_STREAM, &c, NEXT(cuStreamDestroy)(hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamDestroy_v2(CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_DESTROY_STREAM, &c) ? gmod_call_end(GMOD_DESTROY_STREAM, &c, NEXT(cuStreamDestroy_v2)(hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuIpcGetEventHandle(CUipcEventHandle_v1 *pHandle, CUevent event)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .shared = &event, .event = gmod_handle(event)};

	return gmod_call_begin(GMOD_SHARE_EVENT, &c) ? gmod_call_end(GMOD_SHARE_EVENT, &c, NEXT(cuIpcGetEventHandle)(pHandle, event)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle_v1 handle)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .shared = phEvent};

	return gmod_call_begin(GMOD_SHARE_EVENT, &c) ? gmod_call_end(GMOD_SHARE_EVENT, &c, NEXT(cuIpcOpenEventHandle)(phEvent, handle)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuEventDestroy(CUevent hEvent)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .event = gmod_handle(hEvent)};

	return gmod_call_begin(GMOD_DESTROY_EVENT, &c) ? gmod_call_end(GMOD_DESTROY_EVENT, &c, NEXT(cuEventDestroy)(hEvent)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuEventDestroy_v2(CUevent hEvent)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .event = gmod_handle(hEvent)};

	return gmod_call_begin(GMOD_DESTROY_EVENT, &c) ? gmod_call_end(GMOD_DESTROY_EVENT, &c, NEXT(cuEventDestroy_v2)(hEvent)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .event = gmod_handle(hEvent)};

	return gmod_call_begin(GMOD_RECORD_CONTEXT, &c) ? gmod_call_end(GMOD_RECORD_CONTEXT, &c, NEXT(cuCtxRecordEvent)(hCtx, hEvent)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .event = gmod_handle(hEvent)};

	return gmod_call_begin(GMOD_RECORD_CONTEXT, &c) ? gmod_call_end(GMOD_RECORD_CONTEXT, &c, NEXT(cuGreenCtxRecordEvent)(hCtx, hEvent)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1 *paramsArray, unsigned int numExtSems, CUstream stream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = stream};

	return gmod_call_begin(GMOD_ORDER, &c) ? gmod_call_end(GMOD_ORDER, &c, NEXT(cuSignalExternalSemaphoresAsync)(extSemArray, paramsArray, numExtSems, stream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuSignalExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1 *paramsArray, unsigned int numExtSems, CUstream stream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = stream};

	return gmod_call_begin(GMOD_ORDER, &c) ? gmod_call_end(GMOD_ORDER, &c, NEXT(cuSignalExternalSemaphoresAsync_ptsz)(extSemArray, paramsArray, numExtSems, stream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1 *paramsArray, unsigned int numExtSems, CUstream stream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = stream};

	return gmod_call_begin(GMOD_HOLD, &c) ? gmod_call_end(GMOD_HOLD, &c, NEXT(cuWaitExternalSemaphoresAsync)(extSemArray, paramsArray, numExtSems, stream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuWaitExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1 *paramsArray, unsigned int numExtSems, CUstream stream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = stream};

	return gmod_call_begin(GMOD_HOLD, &c) ? gmod_call_end(GMOD_HOLD, &c, NEXT(cuWaitExternalSemaphoresAsync_ptsz)(extSemArray, paramsArray, numExtSems, stream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphicsMapResources(unsigned int count, CUgraphicsResource *resources, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_ORDER, &c) ? gmod_call_end(GMOD_ORDER, &c, NEXT(cuGraphicsMapResources)(count, resources, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphicsMapResources_ptsz(unsigned int count, CUgraphicsResource *resources, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_ORDER, &c) ? gmod_call_end(GMOD_ORDER, &c, NEXT(cuGraphicsMapResources_ptsz)(count, resources, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource *resources, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_ORDER, &c) ? gmod_call_end(GMOD_ORDER, &c, NEXT(cuGraphicsUnmapResources)(count, resources, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphicsUnmapResources_ptsz(unsigned int count, CUgraphicsResource *resources, CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_ORDER, &c) ? gmod_call_end(GMOD_ORDER, &c, NEXT(cuGraphicsUnmapResources_ptsz)(count, resources, hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_HOLD, &c) ? gmod_call_end(GMOD_HOLD, &c, NEXT(cuLaunchHostFunc)(hStream, fn, userData)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_HOLD, &c) ? gmod_call_end(GMOD_HOLD, &c, NEXT(cuLaunchHostFunc_ptsz)(hStream, fn, userData)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_HOLD, &c) ? gmod_call_end(GMOD_HOLD, &c, NEXT(cuLaunchHostFunc_v2)(hStream, fn, userData, syncMode)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuLaunchHostFunc_v2_ptsz(CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_HOLD, &c) ? gmod_call_end(GMOD_HOLD, &c, NEXT(cuLaunchHostFunc_v2_ptsz)(hStream, fn, userData, syncMode)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_HOLD, &c) ? gmod_call_end(GMOD_HOLD, &c, NEXT(cuStreamAddCallback)(hStream, callback, userData, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamAddCallback_ptsz(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_HOLD, &c) ? gmod_call_end(GMOD_HOLD, &c, NEXT(cuStreamAddCallback_ptsz)(hStream, callback, userData, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuMemHostUnregister(void *p)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__};

	return gmod_call_begin(GMOD_ORDER, &c) ? gmod_call_end(GMOD_ORDER, &c, NEXT(cuMemHostUnregister)(p)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuArrayDestroy(CUarray hArray)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__};

	return gmod_call_begin(GMOD_ORDER, &c) ? gmod_call_end(GMOD_ORDER, &c, NEXT(cuArrayDestroy)(hArray)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBeginCapture(CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_BEGIN_CAPTURE, &c) ? gmod_call_end(GMOD_BEGIN_CAPTURE, &c, NEXT(cuStreamBeginCapture)(hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBeginCapture_ptsz(CUstream hStream)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_BEGIN_CAPTURE, &c) ? gmod_call_end(GMOD_BEGIN_CAPTURE, &c, NEXT(cuStreamBeginCapture_ptsz)(hStream)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_BEGIN_CAPTURE, &c) ? gmod_call_end(GMOD_BEGIN_CAPTURE, &c, NEXT(cuStreamBeginCapture_v2)(hStream, mode)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream hStream, CUstreamCaptureMode mode)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_BEGIN_CAPTURE, &c) ? gmod_call_end(GMOD_BEGIN_CAPTURE, &c, NEXT(cuStreamBeginCapture_v2_ptsz)(hStream, mode)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t numDependencies, CUstreamCaptureMode mode)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_BEGIN_CAPTURE, &c) ? gmod_call_end(GMOD_BEGIN_CAPTURE, &c, NEXT(cuStreamBeginCaptureToGraph)(hStream, hGraph, dependencies, dependencyData, numDependencies, mode)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t numDependencies, CUstreamCaptureMode mode)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_BEGIN_CAPTURE, &c) ? gmod_call_end(GMOD_BEGIN_CAPTURE, &c, NEXT(cuStreamBeginCaptureToGraph_ptsz)(hStream, hGraph, dependencies, dependencyData, numDependencies, mode)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBeginRecaptureToGraph(CUstream hStream, CUstreamCaptureMode mode, CUgraph hGraph, CUgraphRecaptureCallback callback, void *userData)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_BEGIN_CAPTURE, &c) ? gmod_call_end(GMOD_BEGIN_CAPTURE, &c, NEXT(cuStreamBeginRecaptureToGraph)(hStream, mode, hGraph, callback, userData)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBeginRecaptureToGraph_ptsz(CUstream hStream, CUstreamCaptureMode mode, CUgraph hGraph, CUgraphRecaptureCallback callback, void *userData)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .stream = hStream};

	return gmod_call_begin(GMOD_BEGIN_CAPTURE, &c) ? gmod_call_end(GMOD_BEGIN_CAPTURE, &c, NEXT(cuStreamBeginRecaptureToGraph_ptsz)(hStream, mode, hGraph, callback, userData)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
	return gmod_capture_over(NEXT(cuStreamEndCapture)(hStream, phGraph), __func__);
}

GMOD_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream hStream, CUgraph *phGraph)
{
	return gmod_capture_over(NEXT(cuStreamEndCapture_ptsz)(hStream, phGraph), __func__);
}

GMOD_EXPORT CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
	return gmod_image_loaded(NEXT(cuModuleLoad)(module, fname), module, NULL, NULL, fname, __func__);
}

GMOD_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	return gmod_image_loaded(NEXT(cuModuleLoadData)(module, image), module, NULL, image, NULL, __func__);
}

GMOD_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	return gmod_image_loaded(NEXT(cuModuleLoadDataEx)(module, image, numOptions, options, optionValues), module, NULL, image, NULL, __func__);
}

GMOD_EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
	return gmod_image_loaded(NEXT(cuModuleLoadFatBinary)(module, fatCubin), module, NULL, fatCubin, NULL, __func__);
}

GMOD_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions, void**libraryOptionValues, unsigned int numLibraryOptions)
{
	return gmod_image_loaded(NEXT(cuLibraryLoadData)(library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions), NULL, library, code, NULL, __func__);
}

GMOD_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions, void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues, unsigned int numLibraryOptions)
{
	return gmod_image_loaded(NEXT(cuLibraryLoadFromFile)(library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions), NULL, library, NULL, fileName, __func__);
}

GMOD_EXPORT CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
	return gmod_loaded(NEXT(cuLibraryGetModule)(pMod, library), __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
	return gmod_instantiated(NEXT(cuGraphInstantiate)(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize), phGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
	return gmod_instantiated(NEXT(cuGraphInstantiate_v2)(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize), phGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
	return gmod_instantiated(NEXT(cuGraphInstantiateWithFlags)(phGraphExec, hGraph, flags), phGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	return gmod_instantiated(NEXT(cuGraphInstantiateWithParams)(phGraphExec, hGraph, instantiateParams), phGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	return gmod_instantiated(NEXT(cuGraphInstantiateWithParams_ptsz)(phGraphExec, hGraph, instantiateParams), phGraphExec, hGraph, __func__);
}

GMOD_EXPORT CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out, CUgraphExecUpdateResult *updateResult_out)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .graph = gmod_handle(hGraphExec)};

	return gmod_call_begin(GMOD_UPDATE_GRAPH, &c) ? gmod_call_end(GMOD_UPDATE_GRAPH, &c, NEXT(cuGraphExecUpdate)(hGraphExec, hGraph, hErrorNode_out, updateResult_out)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .graph = gmod_handle(hGraphExec)};

	return gmod_call_begin(GMOD_UPDATE_GRAPH, &c) ? gmod_call_end(GMOD_UPDATE_GRAPH, &c, NEXT(cuGraphExecUpdate_v2)(hGraphExec, hGraph, resultInfo)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .graph = gmod_handle(hGraphExec)};

	return gmod_call_begin(GMOD_UPDATE_GRAPH, &c) ? gmod_call_end(GMOD_UPDATE_GRAPH, &c, NEXT(cuGraphExecKernelNodeSetParams)(hGraphExec, hNode, nodeParams)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .graph = gmod_handle(hGraphExec)};

	return gmod_call_begin(GMOD_UPDATE_GRAPH, &c) ? gmod_call_end(GMOD_UPDATE_GRAPH, &c, NEXT(cuGraphExecKernelNodeSetParams_v2)(hGraphExec, hNode, nodeParams)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .graph = gmod_handle(hGraphExec)};

	return gmod_call_begin(GMOD_UPDATE_GRAPH, &c) ? gmod_call_end(GMOD_UPDATE_GRAPH, &c, NEXT(cuGraphExecChildGraphNodeSetParams)(hGraphExec, hNode, childGraph)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .graph = gmod_handle(hGraphExec)};

	return gmod_call_begin(GMOD_UPDATE_GRAPH, &c) ? gmod_call_end(GMOD_UPDATE_GRAPH, &c, NEXT(cuGraphExecNodeSetParams)(hGraphExec, hNode, nodeParams)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = addr, .size = 4, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWriteValue32)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = addr, .size = 4, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWriteValue32_ptsz)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = addr, .size = 4, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWriteValue32_v2)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = addr, .size = 4, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWriteValue32_v2_ptsz)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = addr, .size = 8, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWriteValue64)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWriteValue64_ptsz(CUstream stream, CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = addr, .size = 8, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWriteValue64_ptsz)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = addr, .size = 8, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWriteValue64_v2)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = addr, .size = 8, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWriteValue64_v2_ptsz)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = addr, .size = 4, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWaitValue32)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = addr, .size = 4, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWaitValue32_ptsz)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = addr, .size = 4, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWaitValue32_v2)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = addr, .size = 4, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWaitValue32_v2_ptsz)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = addr, .size = 8, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWaitValue64)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = addr, .size = 8, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWaitValue64_ptsz)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .dst = addr, .size = 8, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWaitValue64_v2)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .dst = addr, .size = 8, .stream = stream};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamWaitValue64_v2_ptsz)(stream, addr, value, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .words = paramArray, .stream = stream, .count = count};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamBatchMemOp)(stream, count, paramArray, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams_v1 *paramArray, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .words = paramArray, .stream = stream, .count = count};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamBatchMemOp_ptsz)(stream, count, paramArray, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__, .words = paramArray, .stream = stream, .count = count};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamBatchMemOp_v2)(stream, count, paramArray, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
	struct gmod_call c = {.flavour = GMOD_PER_THREAD, .entry_point = __func__, .words = paramArray, .stream = stream, .count = count};

	return gmod_call_begin(GMOD_WORD, &c) ? gmod_call_end(GMOD_WORD, &c, NEXT(cuStreamBatchMemOp_v2_ptsz)(stream, count, paramArray, flags)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuCoredumpGetAttribute(CUcoredumpSettings get, void *value, size_t *size)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__};

	return gmod_call_begin(GMOD_DUMPS, &c) ? gmod_call_end(GMOD_DUMPS, &c, NEXT(cuCoredumpGetAttribute)(get, value, size)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings get, void *value, size_t *size)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__};

	return gmod_call_begin(GMOD_DUMPS, &c) ? gmod_call_end(GMOD_DUMPS, &c, NEXT(cuCoredumpGetAttributeGlobal)(get, value, size)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuCoredumpSetAttribute(CUcoredumpSettings set, void *value, size_t *size)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__};

	return gmod_call_begin(GMOD_DUMPS, &c) ? gmod_call_end(GMOD_DUMPS, &c, NEXT(cuCoredumpSetAttribute)(set, value, size)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings set, void *value, size_t *size)
{
	struct gmod_call c = {.flavour = GMOD_LEGACY, .entry_point = __func__};

	return gmod_call_begin(GMOD_DUMPS, &c) ? gmod_call_end(GMOD_DUMPS, &c, NEXT(cuCoredumpSetAttributeGlobal)(set, value, size)) : GMOD_REFUSED;
}

GMOD_EXPORT CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice_v1 dev)
{
	gmod_leave_dumps(flags);
	return gmod_context_used(NEXT(cuCtxCreate)(pctx, flags, dev), pctx, __func__);
}

GMOD_EXPORT CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice_v1 dev)
{
	gmod_leave_dumps(flags);
	return gmod_context_used(NEXT(cuCtxCreate_v2)(pctx, flags, dev), pctx, __func__);
}

GMOD_EXPORT CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags, CUdevice_v1 dev)
{
	gmod_leave_dumps(flags);
	return gmod_context_used(NEXT(cuCtxCreate_v3)(pctx, paramsArray, numParams, flags, dev), pctx, __func__);
}

GMOD_EXPORT CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
	gmod_leave_dumps(flags);
	return gmod_context_used(NEXT(cuCtxCreate_v4)(pctx, ctxCreateParams, flags, dev), pctx, __func__);
}

GMOD_EXPORT CUresult cuCtxSetCurrent(CUcontext ctx)
{
	return gmod_context_used(NEXT(cuCtxSetCurrent)(ctx), &ctx, __func__);
}

GMOD_EXPORT CUresult cuCtxPushCurrent(CUcontext ctx)
{
	return gmod_context_used(NEXT(cuCtxPushCurrent)(ctx), &ctx, __func__);
}

GMOD_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	return gmod_context_used(NEXT(cuCtxPushCurrent_v2)(ctx), &ctx, __func__);
}

GMOD_EXPORT CUresult cuCtxDestroy(CUcontext ctx)
{
	return gmod_destroy_context(ctx, NEXT(cuCtxDestroy), __func__);
}

GMOD_EXPORT CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	return gmod_destroy_context(ctx, NEXT(cuCtxDestroy_v2), __func__);
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice_v1 dev)
{
	return gmod_let_go_of(dev, GMOD_RELEASE, NEXT(cuDevicePrimaryCtxRelease), __func__);
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice_v1 dev)
{
	return gmod_let_go_of(dev, GMOD_RELEASE, NEXT(cuDevicePrimaryCtxRelease_v2), __func__);
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice_v1 dev)
{
	return gmod_let_go_of(dev, GMOD_RESET, NEXT(cuDevicePrimaryCtxReset), __func__);
}

GMOD_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice_v1 dev)
{
	return gmod_let_go_of(dev, GMOD_RESET, NEXT(cuDevicePrimaryCtxReset_v2), __func__);
}
