/*
 * A home-made pool: slots of one cuMemAlloc, with a name and guard bytes for each range that it gives out. A slot that
 * was given back in one stream may be given out in another one, which waits for its event.
 */
#pragma once

#include "include/gmod.h"
#include "pooled.h"

#pragma weak gmod_guard
#pragma weak gmod_unguard

enum { SLOTS = 16, SLOT = 4096, PADDING = 64 };

static struct {
	CUdeviceptr memory;
	struct {
		int taken;
		CUevent given_back;
	} slot[SLOTS];
} own_pool;

static TK_UNUSED void open_own_pool(void)
{
	own_pool.memory = make_buffer((size_t)SLOTS * SLOT);
	for (int i = 0; i < SLOTS; i++)
		CK(cuEventCreate(&own_pool.slot[i].given_back, CU_EVENT_DISABLE_TIMING));
}

/* The status is GMOD_OK where GMOD is there; a program without it goes on. */
static TK_UNUSED int guard_range(CUdeviceptr p, size_t size, CUstream stream, const char *name)
{
	return gmod_guard ? (int)gmod_guard((void *)(uintptr_t)p, size, PADDING, stream, name) : GMOD_OK;
}

EXPORTED TK_UNUSED CUdeviceptr make_range(size_t size, CUstream stream, const char *name)
{
	int i = 0;
	CUdeviceptr p;

	while (own_pool.slot[i].taken)
		i++;
	own_pool.slot[i].taken = 1;
	CK(cuStreamWaitEvent(stream, own_pool.slot[i].given_back, 0));
	p = own_pool.memory + (CUdeviceptr)i * SLOT;
	REQUIRE(guard_range(p, size, stream, name) == GMOD_OK);
	return p;
}

static TK_UNUSED int unguard_range(CUdeviceptr p, CUstream stream)
{
	return gmod_unguard ? (int)gmod_unguard((void *)(uintptr_t)p, stream) : GMOD_OK;
}

static TK_UNUSED void give_range_back(CUdeviceptr p, CUstream stream)
{
	int i = (int)((p - own_pool.memory) / SLOT);

	REQUIRE(unguard_range(p, stream) == GMOD_OK);
	CK(cuEventRecord(own_pool.slot[i].given_back, stream));
	own_pool.slot[i].taken = 0;
}
