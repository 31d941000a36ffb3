/* Memory: allocation and free, and what is not guarded yet. */
#include "device/guard.h"
#include "lib/buffers/buffer.h"
#include "lib/hooks/hook.h"
#include "monitor/registry/layout.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/small.h"
#include "lib/base/counters.h"
#include "monitor/watch/monitor.h"

static bool guards(const void *out, size_t size)
{
	return gmod_on() && out && size;
}

/* The driver's own answer stands where there is none of ours: NULL results, zero sizes, GMOD off. */
static CUresult allocate(const struct gmod_request *q, uint64_t *out, const char *entry_point)
{
	CUresult r = gmod_buffer_alloc(q, out);

	if (r == CUDA_SUCCESS)
		gmod_monitor_ensure();
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	GMOD_GUARD_PAUSED;
	struct gmod_request q = {.memory = GMOD_MEM_DEVICE, .size = bytesize};
	uint64_t p;
	CUresult r;

	if (!guards(dptr, bytesize))
		return gmod_done(NEXT(cuMemAlloc_v2)(dptr, bytesize), __func__);
	r = allocate(&q, &p, __func__);
	if (r == CUDA_SUCCESS)
		*dptr = p;
	return r;
}

/*
 * Native rows are spaced by their width rounded up to 512 bytes (measured for widths from 1 byte to 10 MB; the
 * conformance program checks it), and the padding of a row is memory a program may use.
 */
static bool native_pitch(size_t width, size_t height, unsigned element, size_t *pitch, size_t *size)
{
	if (!width || !height || (element != 4 && element != 8 && element != 16))
		return false;
	if (__builtin_add_overflow(width, GMOD_DEVICE_ALIGNMENT - 1, pitch))
		return false;
	*pitch -= *pitch % GMOD_DEVICE_ALIGNMENT;
	return !__builtin_mul_overflow(*pitch, height, size);
}

GMOD_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
					unsigned int ElementSizeBytes)
{
	GMOD_GUARD_PAUSED;
	struct gmod_request q = {.memory = GMOD_MEM_DEVICE};
	size_t pitch;
	uint64_t p;
	CUresult r;

	if (!gmod_on() || !dptr || !pPitch || !native_pitch(WidthInBytes, Height, ElementSizeBytes, &pitch, &q.size))
		return gmod_done(NEXT(cuMemAllocPitch_v2)(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes),
				 __func__);
	r = allocate(&q, &p, __func__);
	if (r == CUDA_SUCCESS) {
		*dptr = p;
		*pPitch = pitch;
	}
	return r;
}

GMOD_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
	GMOD_GUARD_PAUSED;
	struct gmod_request q = {.memory = GMOD_MEM_MANAGED, .size = bytesize, .flags = flags};
	uint64_t p;
	CUresult r;

	if (!guards(dptr, bytesize))
		return gmod_done(NEXT(cuMemAllocManaged)(dptr, bytesize, flags), __func__);
	r = allocate(&q, &p, __func__);
	if (r == CUDA_SUCCESS)
		*dptr = p;
	return r;
}

GMOD_EXPORT CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
	GMOD_GUARD_PAUSED;
	struct gmod_request q = {.memory = GMOD_MEM_HOST, .size = bytesize, .plain_host = true};
	uint64_t p;
	CUresult r;

	if (!guards(pp, bytesize))
		return gmod_done(NEXT(cuMemAllocHost_v2)(pp, bytesize), __func__);
	r = allocate(&q, &p, __func__);
	if (r == CUDA_SUCCESS)
		*pp = (void *)(uintptr_t)p;
	return r;
}

GMOD_EXPORT CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
	GMOD_GUARD_PAUSED;
	struct gmod_request q = {.memory = GMOD_MEM_HOST, .size = bytesize, .flags = Flags};
	uint64_t p;
	CUresult r;

	if (!guards(pp, bytesize))
		return gmod_done(NEXT(cuMemHostAlloc)(pp, bytesize, Flags), __func__);
	r = allocate(&q, &p, __func__);
	if (r == CUDA_SUCCESS)
		*pp = (void *)(uintptr_t)p;
	return r;
}

/*
 * A guarded buffer of the kind this entry point frees, at exactly this address; frees work to the end of the process,
 * also when nothing new is guarded any more.
 */
static bool is_guarded(uint64_t address, bool host, struct gmod_found *found)
{
	if (gmod_phase() == GMOD_OFF)
		return false;
	*found = gmod_index_find(address);
	return found->record && found->bounds.user == address &&
	       (gmod_record_details(found->record)->memory == GMOD_MEM_HOST) == host;
}

/* Inside one of our blocks, but not what we gave out: the driver must not see it, it could be what the driver gave us.
 */
static bool is_inside(uint64_t address)
{
	return gmod_phase() != GMOD_OFF && gmod_index_find(address).record;
}

/* The free of a native pointer proves nothing: one that came from a pool is freed without waiting. */
static CUresult finish_free(CUresult r, uint64_t address, const char *entry_point)
{
	if (r == CUDA_ERROR_INVALID_VALUE)
		gmod_misuse_free(address, entry_point, r);
	gmod_active();
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuMemFree_v2(CUdeviceptr dptr)
{
	GMOD_GUARD_PAUSED;
	struct gmod_found found;

	if (is_guarded(dptr, false, &found))
		return gmod_done(gmod_buffer_free(&found, __func__), __func__);
	if (is_inside(dptr))
		return finish_free(CUDA_ERROR_INVALID_VALUE, dptr, __func__);
	return finish_free(NEXT(cuMemFree_v2)(dptr), dptr, __func__);
}

GMOD_EXPORT CUresult cuMemFreeHost(void *p)
{
	GMOD_GUARD_PAUSED;
	uint64_t address = gmod_handle(p);
	struct gmod_found found;

	if (is_guarded(address, true, &found))
		return gmod_done(gmod_buffer_free(&found, __func__), __func__);
	if (is_inside(address))
		return finish_free(CUDA_ERROR_INVALID_VALUE, address, __func__);
	return finish_free(NEXT(cuMemFreeHost)(p), address, __func__);
}

static CUresult uncovered(CUresult r, size_t size, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on()) {
		gmod_count(&gmod_counters.unsupported, 1);
		gmod_count(&gmod_counters.unsupported_bytes, size);
	}
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
	CUresult r = NEXT(cuMemAllocAsync)(dptr, bytesize, hStream);

	if (gmod_small_made_room(r))
		r = NEXT(cuMemAllocAsync)(dptr, bytesize, hStream);
	return uncovered(r, bytesize, __func__);
}

GMOD_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
	CUresult r = NEXT(cuMemAllocAsync_ptsz)(dptr, bytesize, hStream);

	if (gmod_small_made_room(r))
		r = NEXT(cuMemAllocAsync_ptsz)(dptr, bytesize, hStream);
	return uncovered(r, bytesize, __func__);
}

GMOD_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
	CUresult r = NEXT(cuMemAllocFromPoolAsync)(dptr, bytesize, pool, hStream);

	if (gmod_small_made_room(r))
		r = NEXT(cuMemAllocFromPoolAsync)(dptr, bytesize, pool, hStream);
	return uncovered(r, bytesize, __func__);
}

GMOD_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
						  CUstream hStream)
{
	CUresult r = NEXT(cuMemAllocFromPoolAsync_ptsz)(dptr, bytesize, pool, hStream);

	if (gmod_small_made_room(r))
		r = NEXT(cuMemAllocFromPoolAsync_ptsz)(dptr, bytesize, pool, hStream);
	return uncovered(r, bytesize, __func__);
}

GMOD_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
				 unsigned long long flags)
{
	CUresult r = NEXT(cuMemCreate)(handle, size, prop, flags);

	if (gmod_small_made_room(r))
		r = NEXT(cuMemCreate)(handle, size, prop, flags);
	return uncovered(r, size, __func__);
}

GMOD_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
					    size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
	CUresult r = NEXT(cuGraphAddMemAllocNode)(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);

	return uncovered(r, r == CUDA_SUCCESS ? nodeParams->bytesize : 0, __func__);
}

static CUresult added_node(CUresult r, const CUgraphNodeParams *params, const char *entry_point)
{
	if (r == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		return uncovered(r, params->alloc.bytesize, entry_point);
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
				    size_t numDependencies, CUgraphNodeParams *nodeParams)
{
	return added_node(NEXT(cuGraphAddNode)(phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
			  nodeParams, __func__);
}

GMOD_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
				       const CUgraphEdgeData *dependencyData, size_t numDependencies,
				       CUgraphNodeParams *nodeParams)
{
	return added_node(
	    NEXT(cuGraphAddNode_v2)(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams),
	    nodeParams, __func__);
}

/*
 * What cuMemAlloc gave may be freed in stream order too (measured). A guarded buffer is freed at once, after the work
 * of its context: waiting is more than the program asked for, and its canaries are final then. A stream that captures
 * refuses it (measured), and must not be waited for: that would end its capture.
 */
static CUresult free_in_order(const struct gmod_found *found, CUstream stream, bool per_thread, const char *entry_point)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult r;

	/* Managed memory of the program's own (measured). */
	if (gmod_record_details(found->record)->memory != GMOD_MEM_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (NEXT(cuStreamIsCapturing)(per_thread && !stream ? CU_STREAM_PER_THREAD : stream, &status) == CUDA_SUCCESS &&
	    status != CU_STREAM_CAPTURE_STATUS_NONE)
		return CUDA_ERROR_INVALID_VALUE;
	r = per_thread ? NEXT(cuStreamSynchronize_ptsz)(stream) : NEXT(cuStreamSynchronize)(stream);
	return r == CUDA_SUCCESS ? gmod_buffer_free(found, entry_point) : r;
}

GMOD_EXPORT CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
	struct gmod_found found;

	if (is_guarded(dptr, false, &found))
		return gmod_done(free_in_order(&found, hStream, false, __func__), __func__);
	return gmod_done(NEXT(cuMemFreeAsync)(dptr, hStream), __func__);
}

GMOD_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream)
{
	struct gmod_found found;

	if (is_guarded(dptr, false, &found))
		return gmod_done(free_in_order(&found, hStream, true, __func__), __func__);
	return gmod_done(NEXT(cuMemFreeAsync_ptsz)(dptr, hStream), __func__);
}
