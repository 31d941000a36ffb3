/*
 * Memory where there is no heap of GMOD's: CUDA's own in kernels, and in host code the host's.
 *
 * CUDA's heap does not tell a buffer's size, so each has 16 bytes in front:
 *
 *     CUDA's block: │ unused, align - 16 │ size │ align │ buffer ...
 */
#ifndef GMOD_DEVICE_PLAIN_H
#define GMOD_DEVICE_PLAIN_H

#include "device_port.h"

#if defined(__CUDACC__)
#define GMOD_CALL static __host__ __device__ inline __attribute__((unused))
#else
#define GMOD_CALL GMOD_DEVICE
#endif

/* The CPU on which tests run the code of kernels is no host. */
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)
#define GMOD_IN_KERNEL
#endif

/* As far as addresses go: more is not known. */
GMOD_CALL bool gmod_plain_can(gmod_u64 size, gmod_u64 align)
{
	return (size | align) >> 48 == 0;
}

#if defined(GMOD_IN_KERNEL)

#if !defined(__CUDACC__)
#define __nv_aligned_device_malloc(size, align) aligned_alloc(align, ((size) / (align) + 1) * (align))
#endif

GMOD_DEVICE_SLOW void *gmod_plain_malloc(gmod_u64 size, gmod_u64 align)
{
	gmod_u64 *p = NULL, all = size + align;

	if (gmod_plain_can(size, align))
		p = (gmod_u64 *)(align > 16 ? __nv_aligned_device_malloc(all, align) : gmod_native_malloc(all));
	if (!p)
		return NULL;
	p += align / 8;
	p[-2] = size;
	p[-1] = align;
	return p;
}

/* What is of GMOD's heap, from a module that has one, is left alone: CUDA's free would end the context. */
GMOD_DEVICE_SLOW void gmod_plain_free(void *p)
{
	gmod_u64 align = ((gmod_u64 *)p)[-1];

	if (align >= 16 && !(align & (align - 1)))
		gmod_native_free((char *)p - align);
}

GMOD_DEVICE gmod_u64 gmod_plain_size(void *p)
{
	return ((gmod_u64 *)p)[-2];
}

#else /* the host */

#include <malloc.h>

static inline void *gmod_plain_malloc(size_t size, size_t align)
{
	void *p = NULL;

	if (align <= 16)
		return malloc(size);
	return posix_memalign(&p, align, size) == 0 ? p : NULL;
}

#endif

#endif
