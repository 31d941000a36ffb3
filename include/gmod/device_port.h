/*
 * What the device heap needs of the machine it runs on: atomics named by their order, and the warps of the guard.
 * Compiled by nvcc and NVRTC for the GPU, and by a C compiler for the CPU, where each thread is a warp of its own; the
 * tests run that way under the sanitizers.
 *
 * Orders are those of the C11 and PTX memory models, at the scope of one GPU: _relaxed promises nothing about other
 * memory, a _release store or operation makes visible what its thread wrote before to whoever reads the value with
 * _acquire. What the host reads has _system in its name.
 */
#ifndef GMOD_DEVICE_PORT_H
#define GMOD_DEVICE_PORT_H

typedef unsigned long long gmod_u64;
typedef unsigned int gmod_u32;
typedef unsigned char gmod_u8;

#if defined(__CUDACC__)

/* unused: clang, as nvcc's host compiler, warns of those that no host code calls. */
#define GMOD_DEVICE static __device__ __forceinline__ __attribute__((unused))
/* Called, so that a kernel has its code once. */
#define GMOD_DEVICE_SLOW static __device__ __noinline__ __attribute__((unused))
/*
 * Called from one place. With relocatable device code, and where nothing is optimized (-G), a function takes its own
 * registers and those of what it calls; so steps return before the next begins. Else the compiler sees all of a kernel,
 * and calls are only more code.
 */
#if defined(__CUDACC_RDC__) || defined(__CUDACC_DEBUG__)
#define GMOD_DEVICE_ONCE GMOD_DEVICE_SLOW
#else
#define GMOD_DEVICE_ONCE GMOD_DEVICE
#endif
#define GMOD_ROLLED _Pragma("unroll 1") /* loops that would take the program's registers if they were unrolled */

/* All of it is global memory, whose addresses are generic addresses too. Other spaces would double the code. */
#define GMOD_ATOMIC_LOAD_(name, order, type, size, letter) \
	GMOD_DEVICE type name(const type *p) \
	{ \
		type v; \
		asm volatile("ld." order ".global." size " %0, [%1];" : "=" letter(v) : "l"(p) : "memory"); \
		return v; \
	}
#define GMOD_ATOMIC_STORE_(name, order, type, size, letter) \
	GMOD_DEVICE void name(type *p, type v) \
	{ \
		asm volatile("st." order ".global." size " [%0], %1;" : : "l"(p), letter(v) : "memory"); \
	}
#define GMOD_ATOMIC_RMW_(name, operation, type, letter) \
	GMOD_DEVICE type name(type *p, type v) \
	{ \
		type old; \
		asm volatile("atom." operation " %0, [%1], %2;" : "=" letter(old) : "l"(p), letter(v) : "memory"); \
		return old; \
	}
#define GMOD_ATOMIC_CAS_(name, operation, type, letter) \
	GMOD_DEVICE type name(type *p, type expected, type v) \
	{ \
		type old; \
		asm volatile("atom." operation " %0, [%1], %2, %3;" \
			     : "=" letter(old) \
			     : "l"(p), letter(expected), letter(v) \
			     : "memory"); \
		return old; \
	}

GMOD_ATOMIC_LOAD_(gmod_load32_relaxed, "relaxed.gpu", gmod_u32, "u32", "r")
GMOD_ATOMIC_LOAD_(gmod_load32_acquire, "acquire.gpu", gmod_u32, "u32", "r")
GMOD_ATOMIC_LOAD_(gmod_load64_relaxed, "relaxed.gpu", gmod_u64, "u64", "l")
GMOD_ATOMIC_LOAD_(gmod_load64_acquire, "acquire.gpu", gmod_u64, "u64", "l")
GMOD_ATOMIC_LOAD_(gmod_load64_system, "relaxed.sys", gmod_u64, "u64", "l")
GMOD_ATOMIC_STORE_(gmod_store32_relaxed, "relaxed.gpu", gmod_u32, "u32", "r")
GMOD_ATOMIC_STORE_(gmod_store64_relaxed, "relaxed.gpu", gmod_u64, "u64", "l")
GMOD_ATOMIC_STORE_(gmod_store64_release, "release.gpu", gmod_u64, "u64", "l")
GMOD_ATOMIC_STORE_(gmod_store64_system, "relaxed.sys", gmod_u64, "u64", "l")
GMOD_ATOMIC_STORE_(gmod_store64_release_system, "release.sys", gmod_u64, "u64", "l")
GMOD_ATOMIC_RMW_(gmod_add32_relaxed, "relaxed.gpu.global.add.u32", gmod_u32, "r")
GMOD_ATOMIC_RMW_(gmod_max32_relaxed, "relaxed.gpu.global.max.u32", gmod_u32, "r")
GMOD_ATOMIC_RMW_(gmod_max64_relaxed, "relaxed.gpu.global.max.u64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_add64_relaxed, "relaxed.gpu.global.add.u64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_add64_acquire, "acquire.gpu.global.add.u64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_add64_release, "acq_rel.gpu.global.add.u64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_and32_acquire, "acquire.gpu.global.and.b32", gmod_u32, "r")
GMOD_ATOMIC_RMW_(gmod_or32_release, "acq_rel.gpu.global.or.b32", gmod_u32, "r")
GMOD_ATOMIC_RMW_(gmod_and32_relaxed, "relaxed.gpu.global.and.b32", gmod_u32, "r")
GMOD_ATOMIC_RMW_(gmod_or32_relaxed, "relaxed.gpu.global.or.b32", gmod_u32, "r")
GMOD_ATOMIC_RMW_(gmod_and64_relaxed, "relaxed.gpu.global.and.b64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_swap64_relaxed, "relaxed.gpu.global.exch.b64", gmod_u64, "l")
GMOD_ATOMIC_CAS_(gmod_cas32_acquire, "acquire.gpu.global.cas.b32", gmod_u32, "r")
GMOD_ATOMIC_CAS_(gmod_cas64_relaxed, "relaxed.gpu.global.cas.b64", gmod_u64, "l")
GMOD_ATOMIC_CAS_(gmod_cas64_release, "acq_rel.gpu.global.cas.b64", gmod_u64, "l")

/* Orders everything before against everything after, for all threads of the GPU. */
GMOD_DEVICE void gmod_fence(void)
{
	asm volatile("fence.sc.gpu;" : : : "memory");
}

/* What was written before comes before what is written after, for all threads of the GPU. */
GMOD_DEVICE void gmod_fence_writes(void)
{
	asm volatile("fence.acq_rel.gpu;" : : : "memory");
}

/* Index of the lowest set bit; v is not 0. */
GMOD_DEVICE gmod_u32 gmod_lowest(gmod_u32 v)
{
	return (gmod_u32)__ffs((int)v) - 1;
}

GMOD_DEVICE gmod_u32 gmod_log2(gmod_u32 v)
{
	return 31 - (gmod_u32)__clz((int)v);
}

/* Let others run for about half a microsecond. */
GMOD_DEVICE void gmod_pause(void)
{
	__nanosleep(500);
}

/* Where this thread runs: spreads threads over places that each have their own. */
GMOD_DEVICE gmod_u32 gmod_processor(void)
{
	gmod_u32 sm;

	asm("mov.u32 %0, %%smid;" : "=r"(sm));
	return sm;
}

GMOD_DEVICE gmod_u64 gmod_block_id(void)
{
	return blockIdx.x + (gmod_u64)gridDim.x * (blockIdx.y + (gmod_u64)gridDim.y * blockIdx.z);
}

GMOD_DEVICE gmod_u32 gmod_thread_in_block(void)
{
	return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/* Differs from thread to thread: who takes at the same time had better begin elsewhere. */
GMOD_DEVICE gmod_u32 gmod_spread(void)
{
	return (threadIdx.x + threadIdx.y * 31 + blockIdx.x * 97) * 0x9e3779b1u;
}

/* Nanoseconds since some time; advances in steps of about a microsecond. */
GMOD_DEVICE gmod_u64 gmod_clock(void)
{
	gmod_u64 t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

/*
 * Here the lanes of a warp may be apart, and the compiler is to know. In a loop over atomic operations the compiler has
 * a thread let the others go (YIELD), also those that wait behind the loop. Where the loop is in a function of its own,
 * nvcc 13.0 takes the lanes for together after the call, and leaves out what has to come before barrier.sync and
 * shuffles: on an H100, 124 000 of 256 000 threads passed a barrier early behind a plain loop that way. After a loop
 * that it cannot see through it takes nothing for granted; this one has no second turn.
 */
GMOD_DEVICE void gmod_lanes_apart(void)
{
	gmod_u32 here, self;

	asm("mov.u32 %0, %%lanemask_eq;" : "=r"(self));
	GMOD_ROLLED
	do
		asm volatile("activemask.b32 %0;" : "=r"(here));
	while (!(here & self));
}

/* A warp of the guard, whose lanes are all there and do the same. */
struct gmod_warp {
	gmod_u32 rank, size; /* of the calling lane; of all */
};

GMOD_DEVICE struct gmod_warp gmod_warp_here(void)
{
	struct gmod_warp w = {0, 32};

	asm("mov.u32 %0, %%laneid;" : "=r"(w.rank));
	return w;
}

/* A lane's value, in all lanes. */
GMOD_DEVICE gmod_u64 gmod_warp_share(gmod_u64 v, gmod_u32 lane)
{
	return __shfl_sync(0xffffffffu, v, (int)lane);
}

/* The sum of the lanes' values, in all lanes. */
GMOD_DEVICE gmod_u64 gmod_warp_sum(gmod_u64 v)
{
	for (int lanes = 16; lanes; lanes /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, lanes);
	return v;
}

/* A word of global memory, or of the thread's stack. */
GMOD_DEVICE gmod_u64 gmod_load_any(const gmod_u64 *p)
{
	gmod_u64 v;

	asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
	return v;
}

/* The bytes of an aligned word that are set in the mask. */
GMOD_DEVICE gmod_u64 gmod_load_part(gmod_u64 word, gmod_u64 mask)
{
	return gmod_load64_relaxed((const gmod_u64 *)word) & mask;
}

#else /* the CPU */

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#define GMOD_DEVICE static inline __attribute__((unused))
#define GMOD_DEVICE_SLOW static __attribute__((unused))
#define GMOD_DEVICE_ONCE GMOD_DEVICE_SLOW
#define GMOD_ROLLED

#define GMOD_ATOMIC_LOAD_(name, order, type) \
	GMOD_DEVICE type name(const type *p) \
	{ \
		return __atomic_load_n(p, order); \
	}
#define GMOD_ATOMIC_STORE_(name, order, type) \
	GMOD_DEVICE void name(type *p, type v) \
	{ \
		__atomic_store_n(p, v, order); \
	}
/* Tests may let other threads run before each operation that changes something. */
#ifndef GMOD_CPU_STEP
#define GMOD_CPU_STEP() ((void)0)
#endif

#define GMOD_ATOMIC_RMW_(name, operation, order, type) \
	GMOD_DEVICE type name(type *p, type v) \
	{ \
		GMOD_CPU_STEP(); \
		return __atomic_fetch_##operation(p, v, order); \
	}
#define GMOD_ATOMIC_CAS_(name, order, type) \
	GMOD_DEVICE type name(type *p, type expected, type v) \
	{ \
		GMOD_CPU_STEP(); \
		__atomic_compare_exchange_n(p, &expected, v, 0, order, __ATOMIC_RELAXED); \
		return expected; \
	}
#define GMOD_ATOMIC_MAX_(name, type) \
	GMOD_DEVICE type name(type *p, type v) \
	{ \
		type old = __atomic_load_n(p, __ATOMIC_RELAXED); \
		while (old < v && !__atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
			; \
		return old; \
	}

GMOD_ATOMIC_LOAD_(gmod_load32_relaxed, __ATOMIC_RELAXED, gmod_u32)
GMOD_ATOMIC_LOAD_(gmod_load32_acquire, __ATOMIC_ACQUIRE, gmod_u32)
GMOD_ATOMIC_LOAD_(gmod_load64_relaxed, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_LOAD_(gmod_load64_acquire, __ATOMIC_ACQUIRE, gmod_u64)
GMOD_ATOMIC_LOAD_(gmod_load64_system, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_STORE_(gmod_store32_relaxed, __ATOMIC_RELAXED, gmod_u32)
GMOD_ATOMIC_STORE_(gmod_store64_relaxed, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_STORE_(gmod_store64_release, __ATOMIC_RELEASE, gmod_u64)
GMOD_ATOMIC_STORE_(gmod_store64_system, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_STORE_(gmod_store64_release_system, __ATOMIC_RELEASE, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_add32_relaxed, add, __ATOMIC_RELAXED, gmod_u32)
GMOD_ATOMIC_RMW_(gmod_add64_relaxed, add, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_add64_acquire, add, __ATOMIC_ACQUIRE, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_add64_release, add, __ATOMIC_ACQ_REL, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_and32_acquire, and, __ATOMIC_ACQUIRE, gmod_u32)
GMOD_ATOMIC_RMW_(gmod_or32_release, or, __ATOMIC_ACQ_REL, gmod_u32)
GMOD_ATOMIC_RMW_(gmod_and32_relaxed, and, __ATOMIC_RELAXED, gmod_u32)
GMOD_ATOMIC_RMW_(gmod_or32_relaxed, or, __ATOMIC_RELAXED, gmod_u32)
GMOD_ATOMIC_RMW_(gmod_and64_relaxed, and, __ATOMIC_RELAXED, gmod_u64)
GMOD_DEVICE gmod_u64 gmod_swap64_relaxed(gmod_u64 *p, gmod_u64 v)
{
	GMOD_CPU_STEP();
	return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
GMOD_ATOMIC_MAX_(gmod_max32_relaxed, gmod_u32)
GMOD_ATOMIC_MAX_(gmod_max64_relaxed, gmod_u64)
GMOD_ATOMIC_CAS_(gmod_cas32_acquire, __ATOMIC_ACQUIRE, gmod_u32)
GMOD_ATOMIC_CAS_(gmod_cas64_relaxed, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_CAS_(gmod_cas64_release, __ATOMIC_ACQ_REL, gmod_u64)

GMOD_DEVICE void gmod_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

GMOD_DEVICE void gmod_fence_writes(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

GMOD_DEVICE gmod_u32 gmod_lowest(gmod_u32 v)
{
	return (gmod_u32)__builtin_ctz(v);
}

GMOD_DEVICE gmod_u32 gmod_log2(gmod_u32 v)
{
	return 31 - (gmod_u32)__builtin_clz(v);
}

GMOD_DEVICE void gmod_pause(void)
{
	sched_yield();
}

GMOD_DEVICE gmod_u64 gmod_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (gmod_u64)t.tv_sec * 1000000000u + (gmod_u64)t.tv_nsec;
}

/* What the GPU's registers say there. */
struct gmod_cpu_thread {
	gmod_u32 processor, in_block;
	gmod_u64 block;
};
extern _Thread_local struct gmod_cpu_thread gmod_cpu_thread;

GMOD_DEVICE gmod_u32 gmod_processor(void)
{
	return gmod_cpu_thread.processor;
}

GMOD_DEVICE gmod_u64 gmod_block_id(void)
{
	return gmod_cpu_thread.block;
}

GMOD_DEVICE gmod_u32 gmod_thread_in_block(void)
{
	return gmod_cpu_thread.in_block;
}

GMOD_DEVICE gmod_u32 gmod_spread(void)
{
	return ((gmod_u32)gmod_cpu_thread.block * 97 + gmod_cpu_thread.in_block) * 0x9e3779b1u;
}

GMOD_DEVICE void gmod_lanes_apart(void)
{
}

struct gmod_warp {
	gmod_u32 rank, size;
};

GMOD_DEVICE struct gmod_warp gmod_warp_here(void)
{
	struct gmod_warp w = {0, 1};

	return w;
}

GMOD_DEVICE gmod_u64 gmod_warp_share(gmod_u64 v, gmod_u32 lane)
{
	(void)lane;
	return v;
}

GMOD_DEVICE gmod_u64 gmod_warp_sum(gmod_u64 v)
{
	return v;
}

/* Byte by byte: the others are the program's, who may be writing them. */
GMOD_DEVICE gmod_u64 gmod_load_part(gmod_u64 word, gmod_u64 mask)
{
	gmod_u64 v = 0;

	for (gmod_u32 i = 0; i < 8; i++)
		if (mask >> 8 * i & 0xff)
			v |= (gmod_u64)__atomic_load_n((const gmod_u8 *)word + i, __ATOMIC_RELAXED) << 8 * i;
	return v;
}

GMOD_DEVICE gmod_u64 gmod_load_any(const gmod_u64 *p)
{
	return gmod_load_part((gmod_u64)p, ~0ull);
}

#endif

/*
 * CUDA's own heap, on a GPU. Where malloc and free are mallocN and freeN (device_replace.h), the compilers' code
 * generator still puts CUDA's in the place of these: new and delete, as they are called where size_t is unsigned long
 * long.
 */
#if defined(GMOD_REPLACE_DEVICE_MALLOC) && defined(__CUDA_ARCH__)
extern "C" __device__ void *_Znwy(gmod_u64 size);
extern "C" __device__ void _ZdlPvy(void *p, gmod_u64 size);
#define GMOD_CUDA_MALLOC(size) _Znwy(size)
#define GMOD_CUDA_FREE(p) _ZdlPvy(p, 0)
#else
#define GMOD_CUDA_MALLOC(size) malloc(size)
#define GMOD_CUDA_FREE(p) free(p)
#endif

GMOD_DEVICE void *gmod_native_malloc(gmod_u64 size)
{
	return GMOD_CUDA_MALLOC(size);
}

GMOD_DEVICE void gmod_native_free(void *p)
{
	GMOD_CUDA_FREE(p);
}

#endif
