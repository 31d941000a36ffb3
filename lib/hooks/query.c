/*
 * Questions about memory. A guarded buffer answers as the native one would: base and size are the user's, its
 * redzones do not exist. Managed memory differs; there the driver's answer stands.
 */
#include "lib/buffers/buffer.h"
#include "lib/buffers/fence.h"
#include "lib/buffers/tensors.h"
#include "lib/hooks/where.h"

GMOD_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
	struct gmod_found found;
	enum gmod_where where = gmod_where_is(dptr, &found);
	CUresult r;

	if (where == GMOD_IN_REDZONE)
		return CUDA_ERROR_NOT_FOUND;
	r = NEXT(cuMemGetAddressRange_v2)(pbase, psize, dptr);
	if (r == CUDA_SUCCESS && where == GMOD_IN_BUFFER) {
		if (pbase)
			*pbase = found.bounds.user;
		if (psize)
			*psize = found.bounds.size;
	}
	return gmod_done(r, __func__);
}

/* An address that is nobody's: asking about it gives what the driver says of memory it does not know. */
static CUdeviceptr nobodys(void)
{
	static const char outside;

	return gmod_handle(&outside);
}

/* Mapped memory belongs to no context as far as the driver knows; the program's belongs to the one it was made in. */
static void correct(CUpointer_attribute attribute, void *data, const struct gmod_found *found)
{
	if (attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR || attribute == CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR)
		*(CUdeviceptr *)data = found->bounds.user;
	else if (attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE || attribute == CU_POINTER_ATTRIBUTE_MAPPING_SIZE)
		*(size_t *)data = found->bounds.size;
	else if (attribute == CU_POINTER_ATTRIBUTE_CONTEXT && !*(CUcontext *)data)
		*(CUcontext *)data = gmod_buffer_context(found->record);
	else if (attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE && gmod_is_tensor(found->record))
		*(CUmemoryPool *)data = gmod_tensor_pool(found->record);
}

GMOD_EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct gmod_found found;
	enum gmod_where where = gmod_where_is(ptr, &found);
	CUresult r = NEXT(cuPointerGetAttribute)(data, attribute, where == GMOD_IN_REDZONE ? nobodys() : ptr);

	if (r == CUDA_SUCCESS && where == GMOD_IN_BUFFER && data)
		correct(attribute, data, &found);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
					    CUdeviceptr ptr)
{
	struct gmod_found found;
	enum gmod_where where = gmod_where_is(ptr, &found);
	CUresult r =
	    NEXT(cuPointerGetAttributes)(numAttributes, attributes, data, where == GMOD_IN_REDZONE ? nobodys() : ptr);

	if (r == CUDA_SUCCESS && where == GMOD_IN_BUFFER)
		for (unsigned int i = 0; i < numAttributes; i++)
			correct(attributes[i], data[i], &found);
	return gmod_done(r, __func__);
}

/* To the driver managed and mapped memory are the host's as well (measured); what cuMemAlloc gives natively is not. */
static bool is_no_host_memory(const void *p)
{
	struct gmod_found found;
	enum gmod_where where = gmod_where_is(gmod_handle(p), &found);

	return where == GMOD_IN_REDZONE ||
	       (where == GMOD_IN_BUFFER && gmod_record_details(found.record)->memory == GMOD_MEM_DEVICE);
}

GMOD_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
	if (is_no_host_memory(p))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemHostGetDevicePointer_v2)(pdptr, p, Flags), __func__);
}

/* What cuMemHostAlloc was asked for is known of the start of an allocation only (measured), which is the program's. */
GMOD_EXPORT CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
	struct gmod_found found;
	CUresult r;

	if (is_no_host_memory(p))
		return GMOD_REFUSED;
	r = NEXT(cuMemHostGetFlags)(pFlags, p);
	if (r == CUDA_SUCCESS && gmod_where_is(gmod_handle(p), &found) == GMOD_IN_BUFFER &&
	    found.bounds.user == gmod_handle(p))
		*pFlags |= gmod_record_details(found.record)->host_flags;
	return gmod_done(r, __func__);
}

/* What rests behind fences is free: an allocation that needs it gets it. */
GMOD_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
	const struct gmod_context *c = gmod_on() ? gmod_context_owner() : NULL;
	CUresult r;

	if (c)
		gmod_tensors_settle();
	r = NEXT(cuMemGetInfo_v2)(free, total);
	if (c && r == CUDA_SUCCESS && free)
		*free += gmod_fence_idle_bytes(c->device);
	return gmod_done(r, __func__);
}
