/*
 * mallocN and its kin for the test kernels: gmod_device.cuh where nvcc compiles them, and its part that is C too on the
 * simulator, whose kernels are C. There the module has what gmod_device.cuh gives one: the heap's constants, and the
 * guard kernel under the name that nvcc gives it.
 */
#pragma once

#ifdef __CUDACC__

#include "../../include/gmod_device.cuh"

#define GT_ALLOCATES() ((void)0)
#define GT_VARIABLE static __device__

#else

#include "../../include/gmod/device_malloc.h"

_Thread_local struct gmod_cpu_thread gmod_cpu_thread;
struct gmod_device_heap gmod_unit_heap;

#include "../../include/gmod/device_calls.h"

/* First thing in a kernel that allocates: who it is. */
#define GT_ALLOCATES() \
	(gmod_cpu_thread = (struct gmod_cpu_thread){.processor = gt_self->block_index[0], \
						    .in_block = gt_self->thread_index[0], \
						    .block = gt_self->block_index[0]})

#define GT_VARIABLE static

GT_KERNEL0(_Z9gmod_unitILj0EEvv)
{
}

/* Threads of a block run one after another here: the last one does all the work, and only it may wait. */
GT_KERNEL0(_Z15gmod_unit_guardILj7EEvv)
{
	if (!gmod_unit_heap.base || GT_TID() + 1 < GT_THREADS())
		return;
	gmod_add32_relaxed(&gmod_unit_heap.state->pass, 1);
	for (gmod_u32 share = 0; share < gmod_unit_heap.guards; share++)
		gmod_guard_share(share, gmod_warp_here());
}

#endif
