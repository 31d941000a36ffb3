/* What kernels call, and host code by the same names, wherever the memory is from. Include gmod_device.cuh instead. */
#ifndef GMOD_DEVICE_CALLS_H
#define GMOD_DEVICE_CALLS_H

#include "device_malloc.h"
#include "device_plain.h"

/* In kernels, where it would be a lot of code at each call. */
#if defined(GMOD_IN_KERNEL)

/* Is there a heap of GMOD's for this module in this context? */
GMOD_DEVICE bool gmod_heap_is_here(void)
{
	return gmod_unit_heap.base != 0;
}

GMOD_DEVICE_SLOW void *gmod_either_malloc(gmod_u64 size, gmod_u64 align)
{
	return gmod_heap_is_here() ? gmod_heap_malloc(size, align) : gmod_plain_malloc(size, align);
}

GMOD_DEVICE_SLOW void gmod_either_free(void *p)
{
	if (!p)
		return;
	if (gmod_heap_is_here())
		gmod_heap_free(p);
	else
		gmod_plain_free(p);
}

GMOD_DEVICE void *gmod_any_malloc(gmod_u64 size, gmod_u64 align)
{
	void *p = gmod_either_malloc(size, align);

	gmod_lanes_apart();
	return p;
}

GMOD_DEVICE void gmod_any_free(void *p)
{
	gmod_either_free(p);
	gmod_lanes_apart();
}

GMOD_DEVICE bool gmod_any_can(gmod_u64 size, gmod_u64 align)
{
	return gmod_plain_can(size, align) && (!gmod_heap_is_here() || gmod_heap_can(size, align));
}

GMOD_DEVICE size_t gmod_any_size(void *p)
{
	size_t size = gmod_heap_is_here() ? (size_t)gmod_heap_size_of(p) : (size_t)gmod_plain_size(p);

	gmod_lanes_apart();
	return size;
}

#else

static inline void *gmod_any_malloc(size_t size, size_t align)
{
	return gmod_plain_malloc(size, align);
}

static inline void gmod_any_free(void *p)
{
	free(p);
}

GMOD_CALL bool gmod_any_can(gmod_u64 size, gmod_u64 align)
{
	return gmod_plain_can(size, align);
}

static inline size_t gmod_any_size(void *p)
{
	return malloc_usable_size(p);
}

#endif

/*
 * size bytes of global memory at a multiple of align, a power of two; what is below 16 counts as 16, and a heap of
 * GMOD's has none above 32 KiB. The contents are undefined. A size of 0 gives a pointer that can be freed and must not
 * be dereferenced. NULL where there is no memory: at once for what the heap can never have, else after a quarter of a
 * second at most, in which others may free some. Any thread may call it, in divergent code too.
 */
GMOD_CALL void *aligned_allocN(size_t align, size_t size)
{
	align = align < 16 ? 16 : align;
	if (align & (align - 1))
		return NULL;
	return gmod_any_malloc(size, align);
}

/* Aligned to 16. */
GMOD_CALL void *mallocN(size_t size)
{
	return aligned_allocN(16, size);
}

/*
 * Give back what these functions returned, from any thread of any kernel on the device; NULL is nothing. The buffer is
 * verified, and its memory may be used again at once. Who writes to it all the same is found by what becomes of its
 * first 256 bytes, while nobody else has them (option device_free_delay); behind those, not at all. A pointer that is
 * none of these, or has been freed before, is reported with the block and thread that called, and nothing else happens.
 * Without libgmod it must be one of these.
 */
GMOD_CALL void freeN(void *p)
{
	gmod_any_free(p);
}

/* The bytes of a live buffer that may be used: as many as were asked for, on the host perhaps more. Of NULL, 0. */
GMOD_CALL size_t sizeN(void *p)
{
	return p ? gmod_any_size(p) : 0;
}

/* Both aligned to 8; from == NULL: zeros. */
GMOD_DEVICE void gmod_copy(char *to, const char *from, size_t bytes)
{
	for (size_t i = 0; i + 8 <= bytes; i += 8)
		*(gmod_u64 *)(to + i) = from ? *(const gmod_u64 *)(from + i) : 0;
	for (size_t i = bytes & ~(size_t)7; i < bytes; i++)
		to[i] = from ? from[i] : 0;
}

/* count * size bytes, all zero; NULL also where the product is no size. */
GMOD_CALL void *callocN(size_t count, size_t size)
{
#if defined(GMOD_IN_KERNEL)
	size_t bytes = count * size;
	char *p = size && bytes / size != count ? NULL : (char *)mallocN(bytes);

	if (p)
		gmod_copy(p, NULL, bytes);
	return p;
#else
	return calloc(count, size);
#endif
}

/*
 * A buffer of another size with the same bytes, as far as they fit; the old one is freed, unless NULL is returned.
 * reallocN of NULL is mallocN; of size 0, a buffer of 0 bytes.
 */
GMOD_CALL void *reallocN(void *p, size_t size)
{
#if defined(GMOD_IN_KERNEL)
	size_t old = sizeN(p);
	char *q = (char *)mallocN(size);

	if (q && old)
		gmod_copy(q, (const char *)p, old < size ? old : size);
	if (q)
		freeN(p);
	return q;
#else
	return realloc(p, size ? size : 1);
#endif
}

/* Why there is no such buffer, for whoever has got NULL. */
enum gmod_why {
	GMOD_NO_MEMORY = 1,  /* there is none now: with less in use there may be */
	GMOD_IMPOSSIBLE = 2, /* no alignment, or more than the heap can ever have, as far as that is known here */
};

/* For callocN, the size is the product, which may be no size either. */
GMOD_CALL enum gmod_why whyN(size_t align, size_t size)
{
	return gmod_any_can(size, align) && (align & (align - 1)) == 0 ? GMOD_NO_MEMORY : GMOD_IMPOSSIBLE;
}

#endif
