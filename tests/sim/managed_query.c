/* What is known of the pages of managed memory: one value if all agree, else nowhere (or 0). */
#include "sim.h"

static int page_value(const struct page *page, CUmem_range_attribute attribute)
{
	switch (attribute) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		return page->read_mostly;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		return page->prefetched;
	default:
		return page->preferred;
	}
}

static int common_value(const struct span *span, CUmem_range_attribute attribute)
{
	const struct page *pages = pages_of(span->block);
	int value = page_value(&pages[span->first], attribute);

	for (size_t i = span->first; i < span->end; i++)
		if (page_value(&pages[i], attribute) != value)
			value = attribute == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ? 0 : NOWHERE;
	return value;
}

static CUresult accessors(const struct span *span, int *out, size_t count)
{
	uint32_t all = ~0u;
	size_t n = 0;

	for (size_t i = span->first; i < span->end; i++)
		all &= pages_of(span->block)[i].accessed_by;
	for (int where = ON_HOST; where < sim.devices && n < count; where++)
		if (all & place_bit(where))
			out[n++] = where;
	while (n < count)
		out[n++] = NOWHERE;
	return CUDA_SUCCESS;
}

static CUresult get_attribute(void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr at, size_t bytes)
{
	struct span span;
	CUresult r = span_of(at, bytes, &span);

	if (r)
		return r;
	if (!data || size < sizeof(int) || size % sizeof(int) || attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
	    attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
		return accessors(&span, data, size / sizeof(int));
	if (size != sizeof(int))
		return CUDA_ERROR_INVALID_VALUE;
	*(int *)data = common_value(&span, attribute);
	return CUDA_SUCCESS;
}

ENTRY(cuMemRangeGetAttribute, NEEDS_CONTEXT,
      TAKES(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr, size_t count),
      get_attribute(data, dataSize, attribute, devPtr, count))

static CUresult get_attributes(void **data, const size_t *sizes, const CUmem_range_attribute *attributes, size_t count,
			       CUdeviceptr at, size_t bytes)
{
	CUresult r = data && sizes && attributes && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	for (size_t i = 0; i < count && !r; i++)
		r = get_attribute(data[i], sizes[i], attributes[i], at, bytes);
	return r;
}

ENTRY(cuMemRangeGetAttributes, NEEDS_CONTEXT,
      TAKES(void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t numAttributes, CUdeviceptr devPtr,
	    size_t count),
      get_attributes(data, dataSizes, attributes, numAttributes, devPtr, count))
