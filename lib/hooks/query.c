/*
 * Questions about memory. A guarded buffer answers as the native one would: base and size are the user's, its
 * redzones do not exist, and what the program believes to be cudaMalloc'd takes no advice. Where the unified backend
 * really differs (managed, not exportable) the driver's answer stands.
 */
#include "lib/buffers/buffer.h"
#include "lib/hooks/hook.h"
#include "lib/base/log.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/small.h"
#include "lib/base/facts.h"
#include "lib/buffers/stand_in.h"
#include "lib/buffers/sync_memops.h"
#include "lib/buffers/accounts.h"

/* Where an address lies, as far as a query is concerned. */
enum where { ELSEWHERE, IN_BUFFER, IN_REDZONE };

static enum where locate(uint64_t address, struct gmod_found *found)
{
	if (gmod_phase() == GMOD_OFF)
		return ELSEWHERE;
	*found = gmod_index_find(address);
	if (!found->record)
		return ELSEWHERE;
	return address - found->bounds.user < found->bounds.size ? IN_BUFFER : IN_REDZONE;
}

static bool in_redzone(uint64_t address)
{
	struct gmod_found found;

	return locate(address, &found) == IN_REDZONE;
}

GMOD_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
	struct gmod_found found;
	enum where where = locate(dptr, &found);
	CUresult r;

	if (where == IN_REDZONE)
		return CUDA_ERROR_NOT_FOUND;
	r = NEXT(cuMemGetAddressRange_v2)(pbase, psize, dptr);
	if (r == CUDA_SUCCESS && where == IN_BUFFER) {
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
static CUcontext owner_of(const struct gmod_record *r)
{
	const struct gmod_context *c = gmod_record_details(r)->context;

	return c ? atomic_load_explicit(&c->handle, memory_order_relaxed) : NULL;
}

static void correct(CUpointer_attribute attribute, void *data, const struct gmod_found *found)
{
	if (attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR || attribute == CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR)
		*(CUdeviceptr *)data = found->bounds.user;
	else if (attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE || attribute == CU_POINTER_ATTRIBUTE_MAPPING_SIZE)
		*(size_t *)data = found->bounds.size;
	else if (attribute == CU_POINTER_ATTRIBUTE_CONTEXT && !*(CUcontext *)data)
		*(CUcontext *)data = owner_of(found->record);
	else if (attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && gmod_sync_memops_is_set(found->record))
		*(bool *)data = true;
}

GMOD_EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct gmod_found found;
	enum where where = locate(ptr, &found);
	CUresult r = NEXT(cuPointerGetAttribute)(data, attribute, where == IN_REDZONE ? nobodys() : ptr);

	if (r == CUDA_SUCCESS && where == IN_BUFFER && data)
		correct(attribute, data, &found);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
					    CUdeviceptr ptr)
{
	struct gmod_found found;
	enum where where = locate(ptr, &found);
	CUresult r =
	    NEXT(cuPointerGetAttributes)(numAttributes, attributes, data, where == IN_REDZONE ? nobodys() : ptr);

	if (r == CUDA_SUCCESS && where == IN_BUFFER)
		for (unsigned int i = 0; i < numAttributes; i++)
			correct(attributes[i], data[i], &found);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct gmod_found found;
	enum where where = locate(ptr, &found);
	CUresult r;

	if (where == IN_REDZONE)
		return CUDA_ERROR_INVALID_VALUE;
	r = NEXT(cuPointerSetAttribute)(value, attribute, ptr);
	if (attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && where == IN_BUFFER &&
	    (r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_SUPPORTED) &&
	    gmod_sync_memops_set(found.record, *(const unsigned *)value != 0))
		r = CUDA_SUCCESS;
	return gmod_done(r, __func__);
}

/* Memory a buffer will take but has not yet is not free; what is kept for the next one is. */
GMOD_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
	CUresult r = NEXT(cuMemGetInfo_v2)(free, total);
	struct gmod_context *c = r == CUDA_SUCCESS && gmod_on() ? gmod_context_owner() : NULL;
	uint64_t pending = c ? gmod_accounts_pending(c) : 0, kept = c ? gmod_small_kept_bytes(c) : 0;

	if (r == CUDA_SUCCESS && free)
		*free = *free + kept > pending ? *free + kept - pending : 0;
	return gmod_done(r, __func__);
}

/* What cuMemAlloc gave has no handle, and libraries ask to find out who gave it. */
GMOD_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
	struct gmod_found found;

	if (locate(gmod_handle(addr), &found) != ELSEWHERE)
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemRetainAllocationHandle)(handle, addr), __func__);
}

/* Managed memory cannot be exported. The program gets the driver's refusal; its user gets the way out, once. */
static void say_not_exportable(CUresult r, uint64_t address, const char *entry_point)
{
	static atomic_bool said;
	struct gmod_found found;

	if (r == CUDA_SUCCESS || locate(address, &found) != IN_BUFFER ||
	    gmod_record_details(found.record)->memory != GMOD_MEM_DEVICE || !gmod_first_time(&said))
		return;
	gmod_log_note(
	    0,
	    "%s was refused because guarded buffers are managed or mapped memory, which cannot be shared with "
	    "other processes or devices this way; GMOD_OPTIONS=backend=native leaves device buffers native",
	    entry_point);
}

GMOD_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
	CUresult r = NEXT(cuIpcGetMemHandle)(pHandle, dptr);

	say_not_exportable(r, dptr, __func__);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
						   CUmemRangeHandleType handleType, unsigned long long flags)
{
	CUresult r = NEXT(cuMemGetHandleForAddressRange)(handle, dptr, size, handleType, flags);

	say_not_exportable(r, dptr, __func__);
	return gmod_done(r, __func__);
}

/* To the driver managed and mapped memory are the host's as well (measured); what cuMemAlloc gives natively is not. */
static bool is_no_host_memory(const void *p)
{
	return in_redzone(gmod_handle(p)) || gmod_is_device_buffer(gmod_handle(p));
}

GMOD_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
	if (is_no_host_memory(p))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemHostGetDevicePointer_v2)(pdptr, p, Flags), __func__);
}

/* What cuMemHostAlloc was asked for is known of the start of an allocation only (measured), which is the program's. */
GMOD_EXPORT CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
	struct gmod_found found;
	CUresult r;

	if (is_no_host_memory(p))
		return CUDA_ERROR_INVALID_VALUE;
	r = NEXT(cuMemHostGetFlags)(pFlags, p);
	if (r == CUDA_SUCCESS && locate(gmod_handle(p), &found) == IN_BUFFER && found.bounds.user == gmod_handle(p))
		*pFlags |= gmod_record_details(found.record)->host_flags;
	return gmod_done(r, __func__);
}

/*
 * Advice, prefetch and range attributes are for managed memory. The driver refuses a range that is not all within
 * one managed allocation of the program's (measured: 1001 bytes of a 1000-byte one), and any on cudaMalloc'd memory.
 */
static bool takes_no_advice(uint64_t address, size_t count)
{
	struct gmod_found found;

	switch (locate(address, &found)) {
	case IN_BUFFER:
		return gmod_record_details(found.record)->memory == GMOD_MEM_DEVICE ||
		       gmod_misuse_is_outside(address, count);
	case IN_REDZONE:
		return true;
	default:
		return false;
	}
}

GMOD_EXPORT CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
	if (takes_no_advice(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemAdvise)(devPtr, count, advice, device), __func__);
}

GMOD_EXPORT CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
	if (takes_no_advice(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemAdvise_v2)(devPtr, count, advice, location), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
	if (takes_no_advice(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemPrefetchAsync)(devPtr, count, dstDevice, hStream), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
	if (takes_no_advice(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemPrefetchAsync_ptsz)(devPtr, count, dstDevice, hStream), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
					   CUstream hStream)
{
	if (takes_no_advice(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemPrefetchAsync_v2)(devPtr, count, location, flags, hStream), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr devPtr, size_t count, CUmemLocation location,
						unsigned int flags, CUstream hStream)
{
	if (takes_no_advice(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemPrefetchAsync_v2_ptsz)(devPtr, count, location, flags, hStream), __func__);
}

static bool any_takes_no_advice(const CUdeviceptr *dptrs, const size_t *sizes, size_t count)
{
	for (size_t i = 0; dptrs && sizes && i < count; i++)
		if (takes_no_advice(dptrs[i], sizes[i]))
			return true;
	return false;
}

GMOD_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
					     CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
					     size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
	if (any_takes_no_advice(dptrs, sizes, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemPrefetchBatchAsync)(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
						       numPrefetchLocs, flags, hStream),
			 __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *dptrs, size_t *sizes, size_t count,
						  CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
						  size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
	if (any_takes_no_advice(dptrs, sizes, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemPrefetchBatchAsync_ptsz)(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
							    numPrefetchLocs, flags, hStream),
			 __func__);
}

GMOD_EXPORT CUresult cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags,
					    CUstream hStream)
{
	if (any_takes_no_advice(dptrs, sizes, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemDiscardBatchAsync)(dptrs, sizes, count, flags, hStream), __func__);
}

GMOD_EXPORT CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *dptrs, size_t *sizes, size_t count,
						 unsigned long long flags, CUstream hStream)
{
	if (any_takes_no_advice(dptrs, sizes, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemDiscardBatchAsync_ptsz)(dptrs, sizes, count, flags, hStream), __func__);
}

GMOD_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
						       CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
						       size_t numPrefetchLocs, unsigned long long flags,
						       CUstream hStream)
{
	if (any_takes_no_advice(dptrs, sizes, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemDiscardAndPrefetchBatchAsync)(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
								 numPrefetchLocs, flags, hStream),
			 __func__);
}

GMOD_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *dptrs, size_t *sizes, size_t count,
							    CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
							    size_t numPrefetchLocs, unsigned long long flags,
							    CUstream hStream)
{
	if (any_takes_no_advice(dptrs, sizes, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemDiscardAndPrefetchBatchAsync_ptsz)(dptrs, sizes, count, prefetchLocs,
								      prefetchLocIdxs, numPrefetchLocs, flags, hStream),
			 __func__);
}

GMOD_EXPORT CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
					    CUdeviceptr devPtr, size_t count)
{
	if (takes_no_advice(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemRangeGetAttribute)(data, dataSize, attribute, devPtr, count), __func__);
}

GMOD_EXPORT CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
					     size_t numAttributes, CUdeviceptr devPtr, size_t count)
{
	if (takes_no_advice(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemRangeGetAttributes)(data, dataSizes, attributes, numAttributes, devPtr, count),
			 __func__);
}

/*
 * Attaching takes a whole managed allocation, or by length 0 all of it: the driver's allocation is larger than the
 * program's. *length and *address become the driver's; false: refused.
 */
static bool translate_attach(CUdeviceptr *address, size_t *length)
{
	struct gmod_found found;
	enum where where = locate(*address, &found);
	const struct gmod_details *d;

	if (where == ELSEWHERE)
		return true;
	d = gmod_record_details(found.record);
	if (where == IN_REDZONE || d->memory == GMOD_MEM_DEVICE || *address != found.bounds.user ||
	    (*length && *length != found.bounds.size))
		return false;
	*address = d->raw;
	*length = 0;
	return true;
}

GMOD_EXPORT CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
	if (!translate_attach(&dptr, &length))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuStreamAttachMemAsync)(hStream, dptr, length, flags), __func__);
}

GMOD_EXPORT CUresult cuStreamAttachMemAsync_ptsz(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
	if (!translate_attach(&dptr, &length))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuStreamAttachMemAsync_ptsz)(hStream, dptr, length, flags), __func__);
}
