/*
 * malloc, free, new and delete of device code, by way of mallocN and freeN: included by gmod_device.cuh where
 * GMOD_REPLACE_DEVICE_MALLOC is defined. What host code calls by these names stays what it is.
 *
 * malloc and free are names that the compiler knows itself, and cannot be overloaded: in device code they become
 * macros. The operators are functions of device code only. They are inline because every translation unit has them.
 */
#ifndef GMOD_DEVICE_REPLACE_H
#define GMOD_DEVICE_REPLACE_H

#pragma nv_diagnostic push
#pragma nv_diag_suppress 2620 /* declaring a new or delete operator "inline" is nonstandard */

inline __device__ void *operator new(size_t size)
{
	return mallocN(size);
}

inline __device__ void *operator new[](size_t size)
{
	return mallocN(size);
}

inline __device__ void operator delete(void *p) noexcept
{
	freeN(p);
}

inline __device__ void operator delete[](void *p) noexcept
{
	freeN(p);
}

inline __device__ void operator delete(void *p, size_t) noexcept
{
	freeN(p);
}

inline __device__ void operator delete[](void *p, size_t) noexcept
{
	freeN(p);
}

#pragma nv_diagnostic pop

#if defined(__CUDA_ARCH__)

namespace std
{
using ::freeN;
using ::mallocN;
} // namespace std

#define malloc(size) mallocN(size)
#define free(p) freeN(p)

#endif

#endif
