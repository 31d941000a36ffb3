/* Advice, prefetches and their kin: what the program believes to be cudaMalloc'd takes none. */
#include "lib/buffers/misuse.h"
#include "lib/hooks/where.h"

/*
 * Advice, prefetch and range attributes are for managed memory. The driver refuses a range that is not all within
 * one managed allocation of the program's (measured: 1001 bytes of a 1000-byte one), and any on cudaMalloc'd memory.
 */
static bool takes_no_advice(uint64_t address, size_t count)
{
	struct gmod_found found;

	/* A prefetch in the legacy stream joins others. */
	gmod_ordered_passed();
	switch (gmod_where_is(address, &found)) {
	case GMOD_IN_BUFFER:
		return gmod_record_details(found.record)->memory == GMOD_MEM_DEVICE ||
		       gmod_misuse_is_outside(address, count);
	case GMOD_IN_REDZONE:
		return true;
	default:
		return false;
	}
}

GMOD_EXPORT CUresult cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice device)
{
	if (takes_no_advice(address, size))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemAdvise)(address, size, advice, device), __func__);
}

GMOD_EXPORT CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, CUmem_advise advice, CUmemLocation location)
{
	if (takes_no_advice(address, size))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemAdvise_v2)(address, size, advice, location), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice device, CUstream stream)
{
	if (takes_no_advice(address, size))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemPrefetchAsync)(address, size, device, stream), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t size, CUdevice device, CUstream stream)
{
	if (takes_no_advice(address, size))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemPrefetchAsync_ptsz)(address, size, device, stream), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location, unsigned int flags,
					   CUstream stream)
{
	if (takes_no_advice(address, size))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemPrefetchAsync_v2)(address, size, location, flags, stream), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t size, CUmemLocation location,
						unsigned int flags, CUstream stream)
{
	if (takes_no_advice(address, size))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemPrefetchAsync_v2_ptsz)(address, size, location, flags, stream), __func__);
}

static bool any_takes_no_advice(const CUdeviceptr *dptrs, const size_t *sizes, size_t count)
{
	for (size_t i = 0; dptrs && sizes && i < count; i++)
		if (takes_no_advice(dptrs[i], sizes[i]))
			return true;
	return false;
}

GMOD_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr *at, size_t *sizes, size_t count, CUmemLocation *locations,
					     size_t *first, size_t location_count, unsigned long long flags,
					     CUstream stream)
{
	if (any_takes_no_advice(at, sizes, count))
		return GMOD_REFUSED;
	return gmod_done(
	    NEXT(cuMemPrefetchBatchAsync)(at, sizes, count, locations, first, location_count, flags, stream), __func__);
}

GMOD_EXPORT CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *at, size_t *sizes, size_t count,
						  CUmemLocation *locations, size_t *first, size_t location_count,
						  unsigned long long flags, CUstream stream)
{
	if (any_takes_no_advice(at, sizes, count))
		return GMOD_REFUSED;
	return gmod_done(
	    NEXT(cuMemPrefetchBatchAsync_ptsz)(at, sizes, count, locations, first, location_count, flags, stream),
	    __func__);
}

GMOD_EXPORT CUresult cuMemDiscardBatchAsync(CUdeviceptr *at, size_t *sizes, size_t count, unsigned long long flags,
					    CUstream stream)
{
	if (any_takes_no_advice(at, sizes, count))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemDiscardBatchAsync)(at, sizes, count, flags, stream), __func__);
}

GMOD_EXPORT CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *at, size_t *sizes, size_t count, unsigned long long flags,
						 CUstream stream)
{
	if (any_takes_no_advice(at, sizes, count))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemDiscardBatchAsync_ptsz)(at, sizes, count, flags, stream), __func__);
}

GMOD_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *at, size_t *sizes, size_t count,
						       CUmemLocation *locations, size_t *first, size_t location_count,
						       unsigned long long flags, CUstream stream)
{
	if (any_takes_no_advice(at, sizes, count))
		return GMOD_REFUSED;
	return gmod_done(
	    NEXT(cuMemDiscardAndPrefetchBatchAsync)(at, sizes, count, locations, first, location_count, flags, stream),
	    __func__);
}

GMOD_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *at, size_t *sizes, size_t count,
							    CUmemLocation *locations, size_t *first,
							    size_t location_count, unsigned long long flags,
							    CUstream stream)
{
	if (any_takes_no_advice(at, sizes, count))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemDiscardAndPrefetchBatchAsync_ptsz)(at, sizes, count, locations, first,
								      location_count, flags, stream),
			 __func__);
}

GMOD_EXPORT CUresult cuMemRangeGetAttribute(void *data, size_t data_size, CUmem_range_attribute attribute,
					    CUdeviceptr address, size_t size)
{
	if (takes_no_advice(address, size))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemRangeGetAttribute)(data, data_size, attribute, address, size), __func__);
}

GMOD_EXPORT CUresult cuMemRangeGetAttributes(void **data, size_t *data_sizes, CUmem_range_attribute *attributes,
					     size_t count, CUdeviceptr address, size_t size)
{
	if (takes_no_advice(address, size))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuMemRangeGetAttributes)(data, data_sizes, attributes, count, address, size), __func__);
}

/*
 * Attaching takes a whole managed allocation, or by length 0 all of it: the driver's allocation is larger than the
 * program's. *length and *address become the driver's; false: refused.
 */
static bool translate_attach(CUdeviceptr *address, size_t *length)
{
	struct gmod_found found;
	enum gmod_where where = gmod_where_is(*address, &found);
	const struct gmod_details *d;

	gmod_ordered_passed();
	if (where == GMOD_ELSEWHERE)
		return true;
	d = gmod_record_details(found.record);
	if (where == GMOD_IN_REDZONE || d->memory == GMOD_MEM_DEVICE || *address != found.bounds.user ||
	    (*length && *length != found.bounds.size))
		return false;
	*address = d->raw;
	*length = 0;
	return true;
}

GMOD_EXPORT CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
	if (!translate_attach(&dptr, &length))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuStreamAttachMemAsync)(stream, dptr, length, flags), __func__);
}

GMOD_EXPORT CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
	if (!translate_attach(&dptr, &length))
		return GMOD_REFUSED;
	return gmod_done(NEXT(cuStreamAttachMemAsync_ptsz)(stream, dptr, length, flags), __func__);
}
