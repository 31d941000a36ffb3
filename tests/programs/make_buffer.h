/*
 * Where the buffers of most programs are made: a function of its own, which every report has to name. It is exported
 * (programs are linked with -rdynamic) so that its name can be found from its address.
 */
#pragma once

#include "testkit.h"

#define EXPORTED __attribute__((noinline, visibility("default")))

EXPORTED TK_UNUSED CUdeviceptr make_buffer(size_t size)
{
	CUdeviceptr p;

	tk_start_first();
	CK(cuMemAlloc(&p, size));
	return p;
}

/* Pinned host memory, mapped for the device. */
EXPORTED TK_UNUSED char *make_pinned(size_t size)
{
	void *p;

	tk_start_first();
	CK(cuMemHostAlloc(&p, size, CU_MEMHOSTALLOC_DEVICEMAP));
	return p;
}

/* The same for all contexts. */
EXPORTED TK_UNUSED char *make_portable(size_t size)
{
	void *p;

	tk_start_first();
	CK(cuMemHostAlloc(&p, size, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
	return p;
}

EXPORTED TK_UNUSED CUdeviceptr make_managed(size_t size)
{
	CUdeviceptr p;

	tk_start_first();
	CK(cuMemAllocManaged(&p, size, CU_MEM_ATTACH_GLOBAL));
	return p;
}
