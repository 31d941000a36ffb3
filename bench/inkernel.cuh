/* The bench of memory that kernels allocate: what its kernels share. */
#ifndef BENCH_INKERNEL_CUH
#define BENCH_INKERNEL_CUH

#include "../include/gmod_device.cuh"
#include "inkernel.h"

struct cuda_memory {
	static __device__ void *get(size_t size)
	{
		return malloc(size);
	}
	static __device__ void put(void *p)
	{
		free(p);
	}
};

struct gmod_memory {
	static __device__ void *get(size_t size)
	{
		return mallocN(size);
	}
	static __device__ void put(void *p)
	{
		freeN(p);
	}
};

static __device__ inline unsigned thread_number(void)
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ inline unsigned thread_count(void)
{
	return gridDim.x * blockDim.x;
}

/* A number that looks random (the last steps of splitmix64). */
static __device__ inline uint64_t mix(uint64_t v)
{
	v += 0x9e3779b97f4a7c15ull;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

/* The same pointer; what was written through it is in memory, and is read from there. */
template <class T> static __device__ inline T *through_memory(T *p)
{
	asm volatile("" : "+l"(p) : : "memory");
	return p;
}

static __device__ inline void words_fill(uint64_t *p, unsigned count, uint64_t seed)
{
	for (unsigned i = 0; i < count; i++)
		p[i] = mix(seed + i);
}

static __device__ inline uint64_t words_sum(const uint64_t *p, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += mix(p[i] ^ i);
	return sum;
}

#endif
