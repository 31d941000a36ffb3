/* Device memory below 2 MiB: pieces of a chunk, 512 bytes apart, first fit. A chunk belongs to one context, and goes
 * back when its last piece does. */
#include "sim.h"

#include <stdlib.h>

#define UNITS (SIM_CHUNK / SIM_UNIT)

struct slab {
	struct slab *next;
	CUcontext ctx;
	int device;
	uintptr_t base;
	size_t used;
	bool taken[UNITS];
};

static size_t units(size_t bytes)
{
	return (bytes + SIM_UNIT - 1) / SIM_UNIT;
}

static bool find_gap(const struct slab *slab, size_t wanted, size_t *first)
{
	size_t run = 0;

	if (UNITS - slab->used < wanted)
		return false;
	for (size_t i = 0; i < UNITS; i++) {
		run = slab->taken[i] ? 0 : run + 1;
		if (run == wanted) {
			*first = i + 1 - wanted;
			return true;
		}
	}
	return false;
}

static uintptr_t take(struct slab *slab, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++)
		slab->taken[i] = true;
	slab->used += count;
	return slab->base + first * SIM_UNIT;
}

static struct slab *slab_new(CUcontext ctx, int device)
{
	struct slab *slab;
	uintptr_t base;

	if (!device_charge(device, SIM_CHUNK))
		return NULL;
	base = chunks_take(SIM_CHUNK, false);
	if (!base || !arena_open(&sim_device_arena, base, SIM_CHUNK)) {
		device_uncharge(device, SIM_CHUNK);
		return NULL;
	}
	access_open(base, SIM_CHUNK, device, false);
	slab = calloc(1, sizeof(*slab));
	slab->ctx = ctx;
	slab->device = device;
	slab->base = base;
	slab->next = sim.device[device].slabs;
	sim.device[device].slabs = slab;
	return slab;
}

struct slab *slab_alloc(CUcontext ctx, int device, size_t bytes, uintptr_t *at)
{
	size_t first = 0;
	struct slab *slab;

	for (slab = sim.device[device].slabs; slab; slab = slab->next)
		if (slab->ctx == ctx && find_gap(slab, units(bytes), &first))
			break;
	if (!slab)
		slab = slab_new(ctx, device);
	if (slab)
		*at = take(slab, first, units(bytes));
	return slab;
}

void slab_free(struct slab *slab, uintptr_t at, size_t bytes)
{
	size_t first = (at - slab->base) / SIM_UNIT;

	for (size_t i = first; i < first + units(bytes); i++)
		slab->taken[i] = false;
	slab->used -= units(bytes);
	if (slab->used)
		return;
	UNLINK(sim.device[slab->device].slabs, slab);
	arena_close(&sim_device_arena, slab->base, SIM_CHUNK);
	chunks_give(slab->base, SIM_CHUNK);
	device_uncharge(slab->device, SIM_CHUNK);
	free(slab);
}
