/* The bench of memory that kernels allocate: what its kernels share. */
#ifndef BENCH_INKERNEL_CUH
#define BENCH_INKERNEL_CUH

#include "../include/gmod_device.cuh"
#include "inkernel.h"

struct memory_cuda {
	static __device__ void *get(size_t size)
	{
		return malloc(size);
	}
	static __device__ void put(void *p)
	{
		free(p);
	}
};

struct memory_gmod {
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

/* The last kernel of a program whose threads have held so many words each: reads and frees them. */
template <class Memory, unsigned WORDS> static __global__ void held_free(uint64_t **held, uint64_t *out)
{
	unsigned i = thread_number();

	out[i] = held[i] ? words_sum(held[i], WORDS) : NO_MEMORY;
	if (held[i])
		Memory::put(held[i]);
}

#endif
