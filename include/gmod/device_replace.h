/*
 * malloc, free, new and delete of device code, by way of mallocN and freeN: included by gmod_device.cuh where
 * GMOD_REPLACE_DEVICE_MALLOC is defined.
 *
 * Only the compilation for the device sees these definitions, so host code calls what it always did, also in functions
 * that are both. There they are the functions of these names themselves, not macros: members are not renamed, and what
 * the unit has included before and after goes the same way. malloc and free are static, where CUDA declares them with
 * external linkage: the compiler then gives them symbols of the unit's own, so that units linked with this one keep
 * CUDA's. The operators may not be static. With relocatable device code all units that define them share one.
 */
#ifndef GMOD_DEVICE_REPLACE_H
#define GMOD_DEVICE_REPLACE_H

#if !defined(__CUDACC_RTC__)
#include <new>
#endif

#if defined(__CUDA_ARCH__)

#if defined(__CUDACC_RTC__) /* each compiler declares them in its way, which has to be repeated */
#define GMOD_C_THROWS
#else
#define GMOD_C_THROWS noexcept
#endif

static __forceinline__ __host__ __device__ void *malloc(size_t size) GMOD_C_THROWS
{
	return mallocN(size);
}

static __forceinline__ __host__ __device__ void free(void *p) GMOD_C_THROWS
{
	freeN(p);
}

/* What aligned_alloc of libcu++ calls, whose memory goes to free(). */
extern "C" __device__ void *__cuda_syscall_aligned_malloc(size_t size, size_t align);
static __forceinline__ __device__ void *__cuda_syscall_aligned_malloc(size_t size, size_t align)
{
	return aligned_allocN(align, size);
}

#pragma nv_diagnostic push
#pragma nv_diag_suppress 2620  /* declaring a new or delete operator "inline" is nonstandard: every unit has them */
#pragma nv_diag_suppress 20040 /* those with nothrow are the host's alone so far */
#pragma nv_diag_suppress 541   /* NVRTC's new for alignments is noexcept, nvcc's is not */

#define GMOD_NEW_(parameters, throws, align) \
	inline __host__ __device__ void *operator new parameters throws \
	{ \
		return aligned_allocN(align, size); \
	} \
	inline __host__ __device__ void *operator new[] parameters throws \
	{ \
		return aligned_allocN(align, size); \
	}
#define GMOD_DELETE_(parameters) \
	inline __host__ __device__ void operator delete parameters noexcept \
	{ \
		freeN(p); \
	} \
	inline __host__ __device__ void operator delete[] parameters noexcept \
	{ \
		freeN(p); \
	}

GMOD_NEW_((size_t size), , 16)
GMOD_DELETE_((void *p))
GMOD_DELETE_((void *p, size_t))
#if !defined(__CUDACC_RTC__)
GMOD_NEW_((size_t size, const std::nothrow_t &), noexcept, 16)
#endif
#if defined(__cpp_aligned_new)
GMOD_NEW_((size_t size, std::align_val_t align), , (size_t)align)
GMOD_DELETE_((void *p, std::align_val_t))
GMOD_DELETE_((void *p, size_t, std::align_val_t))
#if !defined(__CUDACC_RTC__)
GMOD_NEW_((size_t size, std::align_val_t align, const std::nothrow_t &), noexcept, (size_t)align)
#endif
#endif

#pragma nv_diagnostic pop

#endif

#endif
