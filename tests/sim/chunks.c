/*
 * Addresses of device memory, in chunks. What contexts and buffers have lies side by side from the bottom of the arena
 * on, first fit, so that memory goes on behind and before a buffer as a device's does, and a place that was freed is
 * used again at once. What is only mapped there comes from the top, away from them.
 */
#include "sim.h"

#include <stdlib.h>

struct gap {
	struct gap *next;
	uintptr_t at;
	size_t size;
};

static struct gap *gaps; /* by address, none beside another */

bool chunks_create(void)
{
	gaps = calloc(1, sizeof(*gaps));
	if (gaps)
		*gaps = (struct gap){NULL, sim_device_arena.base, sim_device_arena.size};
	return gaps;
}

static size_t rounded(size_t bytes)
{
	return (bytes + SIM_CHUNK - 1) / SIM_CHUNK * SIM_CHUNK;
}

/* The first one that is large enough, or the last. */
static struct gap *find(size_t size, bool from_top)
{
	struct gap *found = NULL;

	for (struct gap *g = gaps; g && (from_top || !found); g = g->next)
		if (g->size >= size)
			found = g;
	return found;
}

static void forget_if_empty(struct gap *gap)
{
	if (gap->size)
		return;
	UNLINK(gaps, gap);
	free(gap);
}

uintptr_t chunks_take(size_t bytes, bool from_top)
{
	size_t size = rounded(bytes);
	struct gap *gap = bytes && bytes <= sim_device_arena.size ? find(size, from_top) : NULL;
	uintptr_t at;

	if (!gap)
		return 0;
	at = from_top ? gap->at + gap->size - size : gap->at;
	gap->size -= size;
	if (!from_top)
		gap->at += size;
	forget_if_empty(gap);
	return at;
}

static void join(struct gap *gap)
{
	struct gap *next = gap->next;

	if (!next || gap->at + gap->size != next->at)
		return;
	gap->size += next->size;
	gap->next = next->next;
	free(next);
}

void chunks_give(uintptr_t at, size_t bytes)
{
	struct gap *before = NULL, *gap = calloc(1, sizeof(*gap));

	for (struct gap *g = gaps; g && g->at < at; g = g->next)
		before = g;
	*gap = (struct gap){before ? before->next : gaps, at, rounded(bytes)};
	*(before ? &before->next : &gaps) = gap;
	join(gap);
	if (before)
		join(before);
}
