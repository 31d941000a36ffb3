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
 * Every buffer lies between canaries, up to 256 bytes of them behind it, and of a freed one the first 256 bytes are
 * such, too. freeN verifies them, and a guard does, which GMOD runs beside the program's kernels; overflows,
 * underflows, writes after the free, double and invalid frees come out as GMOD's reports. There is one heap per
 * context, which is one per device and process with the CUDA runtime, however many modules and translation units
 * include this; libgmod makes it before the first launch of a kernel there. Without libgmod in the process, or with
 * device_heap=off, the memory comes from CUDA's heap. Host code may call the same functions, which there give memory of
 * the host's heap: a buffer is freed on the side that allocated it, and by freeN.
 *
 * Define GMOD_REPLACE_DEVICE_MALLOC before the include, and malloc, free, new and delete in all device code of the
 * translation unit go the same way; in host code they stay the host's. A unit that does not define it must not free
 * with free or delete what these allocate. With relocatable device code define it in all units of a link or in none:
 * of a function that several have, such as a class's destructor, the linker keeps one unit's. As with CUDA's own, a new
 * that gets no memory gives NULL, and only new (std::nothrow_t{}), which NVRTC has not, runs no constructor then.
 *
 * nvcc and NVRTC, C++11 and later, compute capability 7.5 and later. What NVRTC compiles as relocatable device code is
 * C++17 and later, or the only such unit of what is linked.
 */
#ifndef GMOD_DEVICE_CUH
#define GMOD_DEVICE_CUH

#ifndef __CUDACC__
#error "gmod_device.cuh is for CUDA code: compile with nvcc, in a file named *.cu or with -x cu, or with NVRTC"
#endif

#include "gmod/device_malloc.h"

/* ---- the guard: libgmod finds it by name ---- */

/* A look at everything, by all threads of the grid. It is a template so that several units of a program may have it. */
template <unsigned layout> __global__ void __launch_bounds__(GMOD_GUARD_THREADS) gmod_unit_guard()
{
	gmod_u32 worker = (blockIdx.x * blockDim.x + threadIdx.x) / 32, workers = gridDim.x * blockDim.x / 32;

	if (!gmod_unit_heap.base) /* the host could not tell this unit of the heap */
		return;
	if (worker == 0 && threadIdx.x % 32 == 0)
		gmod_add32_relaxed(&gmod_unit_heap.state->pass, 1);
	for (gmod_u32 share = worker; share < gmod_unit_heap.guards; share += workers)
		gmod_guard_share(share, gmod_warp_here());
}

template __global__ void gmod_unit_guard<GMOD_DEVICE_LAYOUT>();

/* A unit of whichever version has it: libgmod asks each module that is loaded for this one, and few have it. */
template <unsigned> __global__ void gmod_unit()
{
}

template __global__ void gmod_unit<0>();

#if !defined(__CUDACC_RTC__)
/* The linker of relocatable device code drops kernels that no host code speaks of. */
static void (*const gmod_unit_guard_is_used)() __attribute__((used)) = gmod_unit_guard<GMOD_DEVICE_LAYOUT>;
static void (*const gmod_unit_is_used)() __attribute__((used)) = gmod_unit<0>;
/* With -dlto it takes a variable that no host code speaks of for what that is at first: all zeros. */
static const void *const gmod_unit_heap_is_used __attribute__((used)) = &gmod_unit_heap;
#endif

/* ---- what kernels call, and host code ---- */

#include "gmod/device_calls.h"

#if defined(GMOD_REPLACE_DEVICE_MALLOC)
#include "gmod/device_replace.h"
#endif

#endif

#if defined(GMOD_REPLACE_DEVICE_MALLOC) && !defined(GMOD_DEVICE_REPLACE_H)
#error "define GMOD_REPLACE_DEVICE_MALLOC before gmod_device.cuh is included for the first time"
#endif
