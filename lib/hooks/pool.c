/* Memory in stream order, of which a sample is guarded; other memory that is not: counted, passed through. */
#include "include/gmod.h"
#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/buffers/buffer.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/ordered_block.h"
#include "lib/buffers/ordered_pool.h"
#include "lib/buffers/quarantine.h"
#include "lib/buffers/tensors.h"
#include "lib/hooks/family.h"
#include "lib/hooks/where.h"
#include "monitor/registry/freed.h"
#include "monitor/watch/monitor.h"

static CUresult unguarded(CUresult r, size_t size, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on()) {
		gmod_count(&gmod_counters.unsupported, 1);
		gmod_count(&gmod_counters.unsupported_bytes, size);
		gmod_monitor_ensure(); /* for what is said when a signal ends the process */
	}
	return gmod_done(r, entry_point);
}

/* A profiler counts what goes into a stream, and a debugger stops there. */
static bool is_watched(void)
{
	static atomic_int known; /* 1: no, 2: yes */
	int is = atomic_load_explicit(&known, memory_order_relaxed);

	if (is)
		return is == 2;
	is = gmod_is_under_a_tool() ? 2 : 1;
	if (!atomic_exchange_explicit(&known, is, memory_order_relaxed) && is == 2)
		gmod_log_note(1, "a profiler or debugger is in the process: memory in stream order stays unguarded");
	return is == 2;
}

enum guarded { NATIVE, SAMPLED, FENCED };

/* How is it guarded? What goes into a graph has not happened. */
static enum guarded guard(struct gmod_ordered_request *q, CUdeviceptr *out, const void *caller)
{
	int backend = gmod_options()->backend;
	bool fences = backend == GMOD_OPTION_BACKEND_FENCE, samples;

	if (!gmod_on() || atomic_load_explicit(&gmod_hot.suspended, memory_order_relaxed) || !out || !q->size ||
	    (q->from_pool && !q->pool) || backend == GMOD_OPTION_BACKEND_NATIVE)
		return NATIVE;
	samples = gmod_options()->max_overhead && !gmod_is_captured(q->stream, q->flavour) && !is_watched();
	if (!fences && !samples)
		return NATIVE;
	q->site = gmod_ordered_site(caller, __builtin_frame_address(0), q->size);
	if (fences && gmod_tensors_alloc(q, out))
		return FENCED;
	return samples && gmod_ordered_alloc(q, out) ? SAMPLED : NATIVE;
}

/* Not covered until it is armed, or fenced. */
static CUresult allocate(struct gmod_ordered_request q, CUdeviceptr *out, const void *caller, const char *entry_point)
{
	enum guarded guarded = guard(&q, out, caller);
	CUresult r = guarded != NATIVE ? CUDA_SUCCESS : gmod_ordered_native(&q, q.size, out);

	if (r == CUDA_ERROR_OUT_OF_MEMORY && gmod_tensors_make_room(NULL))
		r = gmod_ordered_native(&q, q.size, out);
	if (r == CUDA_SUCCESS && gmod_on()) {
		gmod_count(&gmod_counters.ordered_all, 1);
		gmod_count(&gmod_counters.ordered_all_bytes, q.size);
	}
	if (guarded != FENCED)
		return unguarded(r, q.size, entry_point);
	gmod_monitor_ensure();
	return r;
}

#define CALLER __builtin_return_address(0)

GMOD_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t size, CUstream stream)
{
	struct gmod_ordered_request q = {.size = size, .stream = stream, .flavour = GMOD_LEGACY};

	return allocate(q, dptr, CALLER, __func__);
}

GMOD_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t size, CUstream stream)
{
	struct gmod_ordered_request q = {.size = size, .stream = stream, .flavour = GMOD_PER_THREAD};

	return allocate(q, dptr, CALLER, __func__);
}

GMOD_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t size, CUmemoryPool pool, CUstream stream)
{
	struct gmod_ordered_request q = {
	    .size = size, .pool = pool, .from_pool = true, .stream = stream, .flavour = GMOD_LEGACY};

	return allocate(q, dptr, CALLER, __func__);
}

GMOD_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t size, CUmemoryPool pool, CUstream stream)
{
	struct gmod_ordered_request q = {
	    .size = size, .pool = pool, .from_pool = true, .stream = stream, .flavour = GMOD_PER_THREAD};

	return allocate(q, dptr, CALLER, __func__);
}

GMOD_EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
	CUresult r = NEXT(cuMemPoolCreate)(pool, props);
	bool alone;

	if (r == CUDA_SUCCESS && gmod_on()) {
		alone = props->handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
			props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->maxSize;
		gmod_pool_made(*pool, alone);
		if (!alone)
			gmod_tensors_pool_made(*pool, props->location.id);
	}
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	bool alone = gmod_on() && gmod_pool_ends(pool);
	CUresult r = NEXT(cuMemPoolDestroy)(pool);

	if (r == CUDA_SUCCESS && gmod_on())
		gmod_tensors_pool_ends(pool);
	else if (alone)
		gmod_pool_made(pool, true);
	return gmod_done(r, __func__);
}

/* Its fenced memory, too. */
GMOD_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	CUresult r = NEXT(cuMemPoolTrimTo)(pool, keep);

	if (r == CUDA_SUCCESS && gmod_on())
		gmod_tensors_trim(pool, keep);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	CUresult r = NEXT(cuMemPoolSetAccess)(pool, map, count);

	for (size_t i = 0; r == CUDA_SUCCESS && gmod_on() && i < count; i++)
		if (map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
			gmod_tensors_let_in(pool, map[i].location.id);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	CUresult r = NEXT(cuMemPoolSetAttribute)(pool, attribute, value);

	if (r == CUDA_SUCCESS && gmod_on())
		gmod_tensors_set(pool, attribute, value);
	return gmod_done(r, __func__);
}

/* What is reserved, is so; of what is in use the program knows its own. */
GMOD_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	CUresult r = NEXT(cuMemPoolGetAttribute)(pool, attribute, value);

	if (r == CUDA_SUCCESS && attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
		gmod_tensors_settle();
	if (r == CUDA_SUCCESS && attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT) {
		/* What is being freed may be in the sum still. */
		cuuint64_t *used = value, extra = gmod_blocks_extra(pool);

		*used -= extra < *used ? extra : *used;
	}
	if (r == CUDA_SUCCESS && gmod_tensors_sum(pool, attribute))
		*(cuuint64_t *)value += gmod_tensors_sum(pool, attribute);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
				 unsigned long long flags)
{
	CUresult r = NEXT(cuMemCreate)(handle, size, prop, flags);

	if (r == CUDA_ERROR_OUT_OF_MEMORY && gmod_tensors_make_room(prop))
		r = NEXT(cuMemCreate)(handle, size, prop, flags);
	if (r == CUDA_SUCCESS && gmod_on()) {
		gmod_count(&gmod_counters.mappings, 1);
		gmod_count(&gmod_counters.mapping_bytes, size);
	}
	return unguarded(r, size, __func__);
}

GMOD_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
					    size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	CUresult r = NEXT(cuGraphAddMemAllocNode)(node, graph, dependencies, count, params);

	return unguarded(r, r == CUDA_SUCCESS ? params->bytesize : 0, __func__);
}

CUresult gmod_node_added(CUresult r, const CUgraphNodeParams *params, const char *entry_point)
{
	if (r == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		return unguarded(r, params->alloc.bytesize, entry_point);
	return gmod_done(r, entry_point);
}

/*
 * What cuMemAlloc gave may be freed in stream order too (measured). A guarded buffer is freed at once, after the work
 * of its context: waiting is more than the program asked for, and its canaries are final then. A stream that captures
 * refuses it (measured), and must not be waited for: that would end its capture.
 */
static CUresult free_in_order(const struct gmod_found *found, CUstream stream, const char *entry_point)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult r;

	/* Managed memory of the program's own (measured). */
	if (gmod_record_details(found->record)->memory != GMOD_MEM_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (NEXT(cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE)
		return CUDA_ERROR_INVALID_VALUE;
	r = NEXT(cuStreamSynchronize)(stream);
	return r == CUDA_SUCCESS ? gmod_buffer_free(found, entry_point) : r;
}

static CUresult free_found(const struct gmod_found *found, CUstream stream, enum gmod_flavour flavour,
			   const char *entry_point)
{
	struct gmod_order in;

	if (!gmod_is_of_a_pool(found->record))
		return free_in_order(found, gmod_explicit(stream, flavour), entry_point);
	in = gmod_order_of(stream, flavour);
	return gmod_is_tensor(found->record) ? gmod_tensors_free(found, &in, entry_point)
					     : gmod_ordered_free(found, &in, entry_point);
}

CUresult gmod_free_in_order(CUdeviceptr p, CUstream stream, enum gmod_flavour flavour, PFN_cuMemFreeAsync_v11020 next,
			    const char *entry_point)
{
	struct gmod_buffer_facts freed;
	struct gmod_found found;
	CUresult r;

	gmod_ordered_joined(stream, flavour, false);
	if (gmod_is_guarded(p, false, &found))
		return gmod_done(free_found(&found, stream, flavour, entry_point), entry_point);
	r = gmod_quarantine_holds(p) ? GMOD_REFUSED : next(p, stream);
	if (r == CUDA_ERROR_INVALID_VALUE && gmod_freed_find(p, &freed))
		gmod_misuse_free(p, &found, entry_point, r);
	return gmod_done(r, entry_point);
}

/* ---- ranges of the program's own pools (include/gmod.h) ---- */

GMOD_EXPORT enum gmod_status gmod_guard(void *ptr, size_t size, size_t padding, void *stream, const char *name)
{
	struct gmod_ordered_request q = {.size = size, .stream = stream, .flavour = GMOD_LEGACY};
	CUdeviceptr at = (CUdeviceptr)(uintptr_t)ptr;

	if (!gmod_on())
		return GMOD_INACTIVE;
	q.padding = padding < GMOD_LOOK_BYTES ? padding & ~(size_t)3 : GMOD_LOOK_BYTES;
	if (!at || !size || !q.padding || size > UINT64_MAX - at - q.padding || gmod_ordered_has_range(at))
		return GMOD_INVALID;
	if (atomic_load_explicit(&gmod_hot.suspended, memory_order_relaxed) || !gmod_options()->max_overhead ||
	    gmod_options()->backend == GMOD_OPTION_BACKEND_NATIVE || is_watched() ||
	    gmod_ordered_is_closed(gmod_explicit(q.stream, q.flavour)))
		return GMOD_SKIPPED;
	q.name = name ? name : "";
	q.site = gmod_ordered_site(CALLER, __builtin_frame_address(0), size);
	gmod_ordered_joined(q.stream, q.flavour, false);
	return gmod_ordered_alloc(&q, &at) ? GMOD_OK : GMOD_SKIPPED;
}

GMOD_EXPORT enum gmod_status gmod_unguard(void *ptr, void *stream)
{
	struct gmod_order in;

	if (gmod_phase() == GMOD_OFF)
		return GMOD_INACTIVE;
	in = gmod_order_of(stream, GMOD_LEGACY);
	gmod_ordered_joined(stream, GMOD_LEGACY, false);
	return ptr && gmod_ordered_unguard((uintptr_t)ptr, &in) ? GMOD_OK : GMOD_INVALID;
}
