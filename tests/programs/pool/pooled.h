/*
 * What programs over memory in stream order share. Each is a pair that its case tells apart: past is how many bytes its
 * kernels write behind a buffer, none in the good one. What is written there lies in what the driver rounds up to.
 */
#pragma once

#include "make_buffer.h"

enum { SIZE = 1000 };

EXPORTED TK_UNUSED CUdeviceptr make_pooled(size_t size, CUstream stream)
{
	CUdeviceptr p;

	tk_start_first();
	CK(cuMemAllocAsync(&p, size, stream));
	return p;
}

EXPORTED TK_UNUSED CUdeviceptr make_from(CUmemoryPool pool, size_t size, CUstream stream)
{
	CUdeviceptr p;

	CK(cuMemAllocFromPoolAsync(&p, size, pool, stream));
	return p;
}

/* A kernel flips the last byte, and those that lie so far past it. */
static TK_UNUSED void flip_end(CUdeviceptr p, size_t size, CUstream stream, int past)
{
	tk_flip_on(stream, p, (long long)size - 1, 1 + past);
}

/* From its allocation to its free in one stream. */
static TK_UNUSED void use_once(size_t size, CUstream stream, int past)
{
	CUdeviceptr p = make_pooled(size, stream);

	flip_end(p, size, stream, past);
	CK(cuMemFreeAsync(p, stream));
}

static TK_UNUSED CUmemoryPool new_pool(CUmemAllocationHandleType exported_as)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = exported_as};
	CUmemoryPool pool;

	tk_start_first();
	props.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = tk_device};
	CK(cuMemPoolCreate(&pool, &props));
	return pool;
}

static TK_UNUSED CUmemoryPool default_pool(void)
{
	CUmemoryPool pool;

	tk_start_first();
	CK(cuDeviceGetDefaultMemPool(&pool, tk_device));
	return pool;
}

static TK_UNUSED cuuint64_t pool_says(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	cuuint64_t value = 0;

	CK(cuMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

/* What is given to the second stream from now on comes behind what the first one has. */
static TK_UNUSED void order(CUstream first, CUstream second)
{
	CUevent event;

	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	CK(cuEventRecord(event, first));
	CK(cuStreamWaitEvent(second, event, 0));
	CK(cuEventDestroy(event));
}

/* The stream is held up until the host sets the flag. */
static TK_UNUSED volatile int *hold(CUstream stream)
{
	volatile int *flag = tk_flag();
	CUdeviceptr none = 0;
	long long zero = 0;

	tk_launch(tk_kernel("k_wait_flip"), 1, 1, stream, TK_ARGS(&none, &zero, &zero, &flag));
	return flag;
}
