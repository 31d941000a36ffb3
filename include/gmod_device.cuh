/*
 * gmod_device.cuh: memory for kernels, watched by GMOD.
 *
 *     #include <gmod_device.cuh>
 *
 *     __global__ void kernel(...)
 *     {
 *             int *p = (int *)mallocN(n * sizeof(int));
 *
 *             if (p) ...
 *             freeN(p);
 *     }
 *
 * Every buffer lies between canaries. A guard, which GMOD runs beside the program's kernels, verifies them and gives
 * freed memory back; overflows, underflows, writes after the free, double and invalid frees come out as GMOD's reports.
 * There is one heap per context, which is one per device and process with the CUDA runtime, however many modules and
 * translation units include this; libgmod makes it before the first launch of a kernel of theirs. Without libgmod in
 * the process, or with device_heap=off, the functions are CUDA's own malloc and free.
 *
 * Define GMOD_REPLACE_DEVICE_MALLOC before the include, and malloc, free, new and delete in the device code that
 * follows go the same way.
 *
 * nvcc and NVRTC, C++14 and later (C++17 with relocatable device code), compute capability 7.5 and later.
 */
#ifndef GMOD_DEVICE_CUH
#define GMOD_DEVICE_CUH

#include "gmod/device_malloc.h"

/* ---- the guard: libgmod finds it by name ---- */

/* A look at everything, by all threads of the grid. */
static __device__ inline void gmod_unit_pass(void)
{
	gmod_u32 worker = (blockIdx.x * blockDim.x + threadIdx.x) / 32, workers = gridDim.x * blockDim.x / 32;

	if (worker == 0 && threadIdx.x % 32 == 0)
		gmod_add32_relaxed(&GMOD_HEAP.state->pass, 1);
	for (gmod_u32 share = worker; share < GMOD_HEAP.guards; share += workers)
		gmod_guard_share(share, gmod_warp_here());
}

/*
 * One pass, or, with a turn's number, passes until `microseconds` are over or the host has stopped the turn; that one is
 * launched as a single block. It is a template so that several units of a program may have it.
 */
template <unsigned layout>
__global__ void __launch_bounds__(GMOD_GUARD_THREADS) gmod_unit_guard(gmod_u32 turn, gmod_u32 microseconds)
{
	__shared__ bool on;
	gmod_u64 began = gmod_clock();

	do {
		gmod_unit_pass();
		__syncthreads();
		if (threadIdx.x == 0)
			on = turn && gmod_guard_goes_on(turn, began + microseconds * 1000ull);
		__syncthreads();
	} while (on);
}

template __global__ void gmod_unit_guard<GMOD_DEVICE_LAYOUT>(gmod_u32, gmod_u32);

#if !defined(__CUDACC_RTC__)
/* The linker of relocatable device code drops kernels that no host code speaks of. */
static void (*const gmod_unit_guard_is_used)(gmod_u32, gmod_u32) __attribute__((used)) =
    gmod_unit_guard<GMOD_DEVICE_LAYOUT>;
#endif

/* ---- what kernels call ---- */

/*
 * size bytes of global memory, aligned to 16 bytes; its contents are undefined. A size of 0 gives a pointer that can be
 * freed and must not be dereferenced. NULL where there is no memory: at once for a size that the heap can never have,
 * else after what is already freed has been looked for and the host asked for more, for a quarter of a second. Any
 * thread may call it, in divergent code too.
 */
static __device__ __noinline__ void *mallocN(size_t size)
{
	return gmod_heap_malloc(size, 16);
}

/*
 * Give back what mallocN, callocN or reallocN returned, from any thread of any kernel on the device; NULL is nothing.
 * The memory is used again once the guard has verified it. A pointer that is none of these, or has been freed before,
 * is reported with the block and thread that called, and nothing else happens.
 */
static __device__ __noinline__ void freeN(void *p)
{
	if (p && GMOD_HEAP.base)
		gmod_heap_free(p);
	else if (p)
		free(p);
}

/* count * size bytes, all zero; NULL also where the product is no size. */
static __device__ inline void *callocN(size_t count, size_t size)
{
	size_t bytes = count * size;
	char *p = size && bytes / size != count ? NULL : (char *)mallocN(bytes);

	for (size_t i = 0; p && i + 8 <= bytes; i += 8)
		*(gmod_u64 *)(p + i) = 0;
	for (size_t i = bytes & ~(size_t)7; p && i < bytes; i++)
		p[i] = 0;
	return p;
}

/*
 * A buffer of another size with the same bytes, as far as they fit; the old one is freed, unless NULL is returned.
 * reallocN of NULL is mallocN; of size 0, a buffer of 0 bytes. Under libgmod only: CUDA's own heap does not tell a
 * buffer's size, so without it a non-NULL p gives NULL.
 */
static __device__ inline void *reallocN(void *p, size_t size)
{
	size_t old = p && GMOD_HEAP.base ? gmod_heap_size_of(p) : 0, both = old < size ? old : size;
	char *q = p && !GMOD_HEAP.base ? NULL : (char *)mallocN(size);

	for (size_t i = 0; q && i < both; i++)
		q[i] = ((const char *)p)[i];
	if (q)
		freeN(p);
	return q;
}

#if defined(GMOD_REPLACE_DEVICE_MALLOC)
#include "gmod/device_replace.h"
#endif

#endif
