/* Allocations that are guarded, and their frees. */
#include "lib/buffers/buffer.h"
#include "lib/hooks/where.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/quarantine.h"
#include "lib/buffers/tensors.h"
#include "monitor/registry/layout.h"
#include "monitor/watch/monitor.h"

/* The driver's own answer stands where there is none of ours: NULL results, zero sizes, GMOD off. */
static bool guards(const void *out, size_t size)
{
	return gmod_on() && out && size;
}

/* A failing call sets *out as well, to NULL, in a context that is broken (measured). */
static CUresult allocate(const struct gmod_request *q, CUdeviceptr *out, const char *entry_point)
{
	uint64_t p = *out;
	CUresult r = gmod_buffer_alloc(q, &p);

	if (r == CUDA_ERROR_OUT_OF_MEMORY && gmod_tensors_make_room(NULL))
		r = gmod_buffer_alloc(q, &p);
	*out = p;
	if (r == CUDA_SUCCESS)
		gmod_monitor_ensure();
	return gmod_done(r, entry_point);
}

static CUresult allocate_host(const struct gmod_request *q, void **out, const char *entry_point)
{
	CUdeviceptr p = 0;
	CUresult r = allocate(q, &p, entry_point);

	if (r == CUDA_SUCCESS)
		*out = (void *)(uintptr_t)p;
	return r;
}

GMOD_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t size)
{
	struct gmod_request q = {.memory = GMOD_MEM_DEVICE, .size = size};

	if (!guards(dptr, size))
		return gmod_done(NEXT(cuMemAlloc_v2)(dptr, size), __func__);
	return allocate(&q, dptr, __func__);
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

GMOD_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pitch, size_t width, size_t height,
					unsigned int element)
{
	struct gmod_request q = {.memory = GMOD_MEM_DEVICE};
	size_t native;
	CUresult r;

	if (!gmod_on() || !dptr || !pitch || !native_pitch(width, height, element, &native, &q.size))
		return gmod_done(NEXT(cuMemAllocPitch_v2)(dptr, pitch, width, height, element), __func__);
	r = allocate(&q, dptr, __func__);
	if (r == CUDA_SUCCESS)
		*pitch = native;
	return r;
}

GMOD_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t size, unsigned int flags)
{
	struct gmod_request q = {.memory = GMOD_MEM_MANAGED, .size = size, .flags = flags};

	if (!guards(dptr, size))
		return gmod_done(NEXT(cuMemAllocManaged)(dptr, size, flags), __func__);
	return allocate(&q, dptr, __func__);
}

GMOD_EXPORT CUresult cuMemAllocHost_v2(void **pp, size_t size)
{
	struct gmod_request q = {.memory = GMOD_MEM_HOST, .size = size, .plain_host = true};

	if (!guards(pp, size))
		return gmod_done(NEXT(cuMemAllocHost_v2)(pp, size), __func__);
	return allocate_host(&q, pp, __func__);
}

GMOD_EXPORT CUresult cuMemHostAlloc(void **pp, size_t size, unsigned int flags)
{
	struct gmod_request q = {.memory = GMOD_MEM_HOST, .size = size, .flags = flags};

	if (!guards(pp, size))
		return gmod_done(NEXT(cuMemHostAlloc)(pp, size, flags), __func__);
	return allocate_host(&q, pp, __func__);
}

/* The free of a native pointer proves nothing: one that came from a pool is freed without waiting. */
static CUresult free_end(CUresult r, uint64_t address, const struct gmod_found *found, const char *entry_point)
{
	if (r == CUDA_ERROR_INVALID_VALUE)
		gmod_misuse_free(address, found, entry_point, r);
	gmod_noted();
	return gmod_done(r, entry_point);
}

/*
 * Frees work to the end of the process, also when nothing new is guarded any more. What is inside one of our blocks,
 * but not what we gave out, the driver must not see: it could be what the driver gave us. Nor a buffer that another
 * thread is freeing: that one's free would fail.
 */
static bool is_ours_to_refuse(uint64_t address, struct gmod_found *found)
{
	return found->record || (gmod_phase() != GMOD_OFF &&
				 (gmod_index_find_releasing(address, found) || gmod_quarantine_holds(address)));
}

static CUresult free_found(const struct gmod_found *found, const char *entry_point)
{
	if (gmod_is_of_a_pool(found->record))
		return gmod_is_tensor(found->record) ? gmod_tensors_free(found, NULL, entry_point)
						     : gmod_ordered_free(found, NULL, entry_point);
	gmod_ordered_passed();
	return gmod_buffer_free(found, entry_point);
}

GMOD_EXPORT CUresult cuMemFree_v2(CUdeviceptr dptr)
{
	struct gmod_found found;

	if (gmod_is_guarded(dptr, false, &found))
		return gmod_done(free_found(&found, __func__), __func__);
	gmod_ordered_passed();
	return free_end(is_ours_to_refuse(dptr, &found) ? GMOD_REFUSED : NEXT(cuMemFree_v2)(dptr), dptr, &found,
			__func__);
}

GMOD_EXPORT CUresult cuMemFreeHost(void *p)
{
	uint64_t address = gmod_handle(p);
	struct gmod_found found;

	gmod_ordered_passed();
	if (gmod_is_guarded(address, true, &found))
		return gmod_done(gmod_buffer_free(&found, __func__), __func__);
	return free_end(is_ours_to_refuse(address, &found) ? GMOD_REFUSED : NEXT(cuMemFreeHost)(p), address, &found,
			__func__);
}
