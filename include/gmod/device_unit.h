/*
 * A unit's way to its heap. mallocN and its kin (device_calls.h) know no more of a heap than these.
 */
#ifndef GMOD_DEVICE_UNIT_H
#define GMOD_DEVICE_UNIT_H

#include "device_malloc.h"

/* Is there a heap of GMOD's for this module in this context? The others are for where there is one. */
GMOD_DEVICE bool gmod_unit_on(void)
{
	return gmod_unit_heap.base != 0;
}

/* Can there ever be such a buffer? */
GMOD_DEVICE bool gmod_unit_can(gmod_u64 size, gmod_u64 align)
{
	gmod_u64 needs = gmod_buffer_needs(size, align);

	return needs && needs <= gmod_unit_heap.largest;
}

/* align: a power of two, 16 or more. */
GMOD_DEVICE void *gmod_unit_malloc(gmod_u64 size, gmod_u64 align)
{
	return gmod_heap_malloc(size, align);
}

GMOD_DEVICE void gmod_unit_free(void *p)
{
	gmod_heap_free(p);
}

/* The size that was asked for; 0 for what is no live buffer. */
GMOD_DEVICE gmod_u64 gmod_unit_size(const void *p)
{
	return gmod_heap_size_of(p);
}

#endif
