#include "device/memory.h"

#include <stdlib.h>

#include "include/gmod/device_heap.h"
#include "lib/driver/driver.h"
#include "lib/driver/mapping.h"
#include "lib/base/facts.h"

/* What a heap that cannot grow has at most: it would take all of it at once. */
#define WHOLE_MAX ((size_t)256 << 20)

static size_t in_units(size_t size)
{
	return (size + GMOD_MAPPING_UNIT - 1) / GMOD_MAPPING_UNIT * GMOD_MAPPING_UNIT;
}

static bool take_whole(struct gmod_device_memory *m)
{
	CUdeviceptr p;

	if (m->size > WHOLE_MAX)
		m->size = WHOLE_MAX;
	if (NEXT(cuMemAlloc_v2)(&p, m->size + GMOD_CHUNK_SIZE) != CUDA_SUCCESS)
		return false;
	m->whole = p;
	m->base = (p + GMOD_CHUNK_SIZE - 1) / GMOD_CHUNK_SIZE * GMOD_CHUNK_SIZE;
	m->committed = m->size;
	return true;
}

/*
 * memcheck calls it out of bounds when a kernel writes to memory of its own while other memory is being mapped
 * (measured: compute-sanitizer of CUDA 13.0): there the heap does not grow. The variable is the tool's own.
 */
static bool is_under_compute_sanitizer(void)
{
	return getenv("NV_SANITIZER_INJECTION_TRANSPORT_TYPE") != NULL;
}

bool gmod_device_memory_reserve(struct gmod_device_memory *m, int device, size_t size)
{
	CUdeviceptr base;

	*m = (struct gmod_device_memory){.size = in_units(size), .device = device};
	if (!gmod_mapping_is_possible(device) || is_under_compute_sanitizer())
		return take_whole(m);
	if (NEXT(cuMemAddressReserve)(&base, m->size, GMOD_MAPPING_UNIT, 0, 0) != CUDA_SUCCESS)
		return false;
	m->base = base;
	return true;
}

bool gmod_device_memory_commit(struct gmod_device_memory *m, size_t size)
{
	size = in_units(size);
	if (size > m->size)
		size = m->size;
	if (size <= m->committed)
		return true;
	if (m->pieces == GMOD_MEMORY_PIECES ||
	    gmod_mapping_add(m->device, m->base + m->committed, size - m->committed) != CUDA_SUCCESS)
		return false;
	m->piece[m->pieces++] = size - m->committed;
	m->committed = size;
	return true;
}

/* What is mapped is unmapped as it was mapped. */
static CUresult unmap(struct gmod_device_memory *m)
{
	CUresult r = CUDA_SUCCESS;

	while (r == CUDA_SUCCESS && m->pieces) {
		m->committed -= m->piece[--m->pieces];
		r = NEXT(cuMemUnmap)(m->base + m->committed, m->piece[m->pieces]);
	}
	return r == CUDA_SUCCESS ? NEXT(cuMemAddressFree)(m->base, m->size) : r;
}

void gmod_device_memory_drop(struct gmod_device_memory *m, bool context_is_gone)
{
	CUresult r = CUDA_SUCCESS;

	if (m->base && !m->whole)
		r = unmap(m);
	else if (m->whole && !context_is_gone) /* else it has gone with its context */
		r = NEXT(cuMemFree_v2)(m->whole);
	if (r != CUDA_SUCCESS)
		gmod_degraded("giving back a device heap's memory");
	m->base = m->whole = 0;
}
