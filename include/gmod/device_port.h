/*
 * What the device heap needs of the machine it runs on: atomics named by their order, and groups of lanes that act as
 * one. Compiled by nvcc and NVRTC for the GPU, and by a C compiler for the CPU, where each thread is a group of its
 * own; the tests run that way under the sanitizers.
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

#define GMOD_DEVICE static __device__ __forceinline__
#define GMOD_DEVICE_SLOW static __device__ __noinline__ /* off the common path: keeps registers of callers free */

#define GMOD_ATOMIC_LOAD_(name, order, type, size, letter) \
	GMOD_DEVICE type name(const type *p) \
	{ \
		type v; \
		asm volatile("ld." order "." size " %0, [%1];" : "=" letter(v) : "l"(p) : "memory"); \
		return v; \
	}
#define GMOD_ATOMIC_STORE_(name, order, type, size, letter) \
	GMOD_DEVICE void name(type *p, type v) \
	{ \
		asm volatile("st." order "." size " [%0], %1;" : : "l"(p), letter(v) : "memory"); \
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
GMOD_ATOMIC_LOAD_(gmod_load64_relaxed, "relaxed.gpu", gmod_u64, "u64", "l")
GMOD_ATOMIC_LOAD_(gmod_load64_acquire, "acquire.gpu", gmod_u64, "u64", "l")
GMOD_ATOMIC_LOAD_(gmod_load64_system, "relaxed.sys", gmod_u64, "u64", "l")
GMOD_ATOMIC_STORE_(gmod_store32_relaxed, "relaxed.gpu", gmod_u32, "u32", "r")
GMOD_ATOMIC_STORE_(gmod_store32_release, "release.gpu", gmod_u32, "u32", "r")
GMOD_ATOMIC_STORE_(gmod_store64_relaxed, "relaxed.gpu", gmod_u64, "u64", "l")
GMOD_ATOMIC_STORE_(gmod_store64_release, "release.gpu", gmod_u64, "u64", "l")
GMOD_ATOMIC_STORE_(gmod_store64_system, "relaxed.sys", gmod_u64, "u64", "l")
GMOD_ATOMIC_STORE_(gmod_store64_release_system, "release.sys", gmod_u64, "u64", "l")
GMOD_ATOMIC_RMW_(gmod_add32_relaxed, "relaxed.gpu.add.u32", gmod_u32, "r")
GMOD_ATOMIC_RMW_(gmod_max32_relaxed, "relaxed.gpu.max.u32", gmod_u32, "r")
GMOD_ATOMIC_RMW_(gmod_max64_relaxed, "relaxed.gpu.max.u64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_add64_relaxed, "relaxed.gpu.add.u64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_add64_acquire, "acquire.gpu.add.u64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_add64_release, "acq_rel.gpu.add.u64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_and64_acquire, "acquire.gpu.and.b64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_and64_release, "acq_rel.gpu.and.b64", gmod_u64, "l")
GMOD_ATOMIC_RMW_(gmod_or64_release, "acq_rel.gpu.or.b64", gmod_u64, "l")
GMOD_ATOMIC_CAS_(gmod_cas32_acquire, "acquire.gpu.cas.b32", gmod_u32, "r")
GMOD_ATOMIC_CAS_(gmod_cas64_release, "acq_rel.gpu.cas.b64", gmod_u64, "l")

/* Orders everything before against everything after, for all threads of the GPU. */
GMOD_DEVICE void gmod_fence(void)
{
	asm volatile("fence.sc.gpu;" : : : "memory");
}

GMOD_DEVICE int gmod_popcount(gmod_u64 v)
{
	return __popcll((long long)v);
}

/* Index of the lowest set bit; v is not 0. */
GMOD_DEVICE int gmod_lowest(gmod_u64 v)
{
	return __ffsll((long long)v) - 1;
}

GMOD_DEVICE int gmod_log2(gmod_u64 v)
{
	return 63 - __clzll((long long)v);
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

GMOD_DEVICE gmod_u64 gmod_thread_id(void)
{
	return gmod_block_id() * ((gmod_u64)blockDim.x * blockDim.y * blockDim.z) + gmod_thread_in_block();
}

/* Nanoseconds since some time; advances in steps of about a microsecond. */
GMOD_DEVICE gmod_u64 gmod_clock(void)
{
	gmod_u64 t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

/*
 * Lanes of one warp that ask for the same thing and are served by one of them.
 *
 * Lanes that happen to arrive together (gmod_group_of) had better part soon: when such groups went through scans of
 * byte arrays, with calls and loops between their shuffles, a leader now and then read garbage from itself (H200, CUDA
 * 13.0, one in some 10^6 allocations on a full heap). They share what it takes to hand out blocks; longer work is for
 * single lanes or whole warps.
 */
struct gmod_group {
	gmod_u32 mask, rank, size, leader;
};

/* The lanes that arrive here together with the same key. */
GMOD_DEVICE struct gmod_group gmod_group_of(gmod_u32 key)
{
	struct gmod_group g;
	gmod_u32 below;

	asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
	g.mask = __match_any_sync(__activemask(), key);
	g.rank = (gmod_u32)__popc(g.mask & below);
	g.size = (gmod_u32)__popc(g.mask);
	g.leader = (gmod_u32)__ffs((int)g.mask) - 1;
	return g;
}

/* The calling lane by itself. */
GMOD_DEVICE struct gmod_group gmod_group_alone(void)
{
	struct gmod_group g = {0, 0, 1, 0};

	asm("mov.u32 %0, %%laneid;" : "=r"(g.leader));
	g.mask = 1u << g.leader;
	return g;
}

/* The leader's value, in all lanes of the group. Orders their memory accesses too. */
GMOD_DEVICE gmod_u64 gmod_group_share(struct gmod_group g, gmod_u64 v)
{
	v = __shfl_sync(g.mask, v, (int)g.leader);
	__syncwarp(g.mask);
	return v;
}

/* The whole warp: all of its lanes are there and do the same from here on. */
GMOD_DEVICE struct gmod_group gmod_group_warp(void)
{
	struct gmod_group g = {0xffffffffu, 0, 32, 0};

	asm("mov.u32 %0, %%laneid;" : "=r"(g.rank));
	return g;
}

/* The sum of the lanes' values, in all lanes of the group, and in *below that of the lanes of a lower rank. */
GMOD_DEVICE gmod_u64 gmod_group_scan(struct gmod_group g, gmod_u64 v, gmod_u64 *below)
{
	gmod_u64 sum = 0;
	gmod_u32 rank = 0;

	*below = 0;
	for (gmod_u32 rest = g.mask; rest; rest &= rest - 1, rank++) {
		if (rank == g.rank)
			*below = sum;
		sum += __shfl_sync(g.mask, v, __ffs((int)rest) - 1);
	}
	return sum;
}

/*
 * Orders the memory accesses of all lanes before against those after, for all threads of the GPU: what one lane
 * releases next is released for all of them.
 */
GMOD_DEVICE void gmod_group_meet(struct gmod_group g)
{
	asm volatile("fence.acq_rel.gpu;" : : : "memory");
	__syncwarp(g.mask);
	asm volatile("fence.acq_rel.gpu;" : : : "memory");
}

/* Bytes [from, to) of an aligned word; the others may be anything. */
GMOD_DEVICE gmod_u64 gmod_load_part(gmod_u64 word, gmod_u32 from, gmod_u32 to)
{
	(void)from;
	(void)to;
	return gmod_load64_relaxed((const gmod_u64 *)word);
}

#else /* the CPU */

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#define GMOD_DEVICE static inline __attribute__((unused))
#define GMOD_DEVICE_SLOW static __attribute__((unused))

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
		__atomic_compare_exchange_n(p, &expected, v, 0, order, __ATOMIC_ACQUIRE); \
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
GMOD_ATOMIC_LOAD_(gmod_load64_relaxed, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_LOAD_(gmod_load64_acquire, __ATOMIC_ACQUIRE, gmod_u64)
GMOD_ATOMIC_LOAD_(gmod_load64_system, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_STORE_(gmod_store32_relaxed, __ATOMIC_RELAXED, gmod_u32)
GMOD_ATOMIC_STORE_(gmod_store32_release, __ATOMIC_RELEASE, gmod_u32)
GMOD_ATOMIC_STORE_(gmod_store64_relaxed, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_STORE_(gmod_store64_release, __ATOMIC_RELEASE, gmod_u64)
GMOD_ATOMIC_STORE_(gmod_store64_system, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_STORE_(gmod_store64_release_system, __ATOMIC_RELEASE, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_add32_relaxed, add, __ATOMIC_RELAXED, gmod_u32)
GMOD_ATOMIC_RMW_(gmod_add64_relaxed, add, __ATOMIC_RELAXED, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_add64_acquire, add, __ATOMIC_ACQUIRE, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_add64_release, add, __ATOMIC_ACQ_REL, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_and64_acquire, and, __ATOMIC_ACQUIRE, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_and64_release, and, __ATOMIC_ACQ_REL, gmod_u64)
GMOD_ATOMIC_RMW_(gmod_or64_release, or, __ATOMIC_ACQ_REL, gmod_u64)
GMOD_ATOMIC_MAX_(gmod_max32_relaxed, gmod_u32)
GMOD_ATOMIC_MAX_(gmod_max64_relaxed, gmod_u64)
GMOD_ATOMIC_CAS_(gmod_cas32_acquire, __ATOMIC_ACQUIRE, gmod_u32)
GMOD_ATOMIC_CAS_(gmod_cas64_release, __ATOMIC_ACQ_REL, gmod_u64)

GMOD_DEVICE void gmod_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

GMOD_DEVICE int gmod_popcount(gmod_u64 v)
{
	return __builtin_popcountll(v);
}

GMOD_DEVICE int gmod_lowest(gmod_u64 v)
{
	return __builtin_ctzll(v);
}

GMOD_DEVICE int gmod_log2(gmod_u64 v)
{
	return 63 - __builtin_clzll(v);
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

GMOD_DEVICE gmod_u64 gmod_thread_id(void)
{
	return gmod_cpu_thread.block * 1024 + gmod_cpu_thread.in_block;
}

struct gmod_group {
	gmod_u32 mask, rank, size, leader;
};

GMOD_DEVICE struct gmod_group gmod_group_alone(void)
{
	struct gmod_group g = {1, 0, 1, 0};

	return g;
}

GMOD_DEVICE struct gmod_group gmod_group_of(gmod_u32 key)
{
	(void)key;
	return gmod_group_alone();
}

GMOD_DEVICE gmod_u64 gmod_group_share(struct gmod_group g, gmod_u64 v)
{
	(void)g;
	return v;
}

GMOD_DEVICE struct gmod_group gmod_group_warp(void)
{
	return gmod_group_alone();
}

GMOD_DEVICE gmod_u64 gmod_group_scan(struct gmod_group g, gmod_u64 v, gmod_u64 *below)
{
	(void)g;
	*below = 0;
	return v;
}

GMOD_DEVICE void gmod_group_meet(struct gmod_group g)
{
	(void)g;
}

/* Byte by byte: the others are the program's, who may be writing them. */
GMOD_DEVICE gmod_u64 gmod_load_part(gmod_u64 word, gmod_u32 from, gmod_u32 to)
{
	gmod_u64 v = 0;

	for (gmod_u32 i = from; i < to; i++)
		v |= (gmod_u64)__atomic_load_n((const gmod_u8 *)word + i, __ATOMIC_RELAXED) << 8 * i;
	return v;
}

#endif

/* The sum of the lanes' values, in all lanes of the group. */
GMOD_DEVICE gmod_u64 gmod_group_sum(struct gmod_group g, gmod_u64 v)
{
	gmod_u64 below;

	return gmod_group_scan(g, v, &below);
}

/* CUDA's own heap, on a GPU. */
GMOD_DEVICE void *gmod_native_malloc(gmod_u64 size)
{
	return malloc(size);
}

GMOD_DEVICE void gmod_native_free(void *p)
{
	free(p);
}

#endif
