/*
 * Where the parts of a device heap lie, and what they hold at first. Arithmetic only: nothing here touches a GPU.
 *
 *     metadata: state │ chunk table │ sets
 *     chunks:   64 KiB each, all of them in the set of free chunks at first
 */
#ifndef GMOD_HOST_DEVICE_LAYOUT_H
#define GMOD_HOST_DEVICE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/gmod/device_heap.h"

struct gmod_device_layout {
	uint32_t chunks, guards;       /* the second: shares of them, each for a warp */
	uint32_t set_words, set_marks; /* 32-bit words of one set and of its summary */
	size_t chunk_table, sets;      /* byte offsets into the metadata */
	size_t size;                   /* of all */
};

/* false: more chunks than there can be, or none, or too many guards. */
bool gmod_device_layout(uint32_t chunks, uint32_t guards, struct gmod_device_layout *out);

/* What a heap is, beside its layout. Addresses are the device's. */
struct gmod_device_facts {
	uint64_t metadata, chunks, ring;
	const uint64_t *key; /* two words */
	uint32_t delay;      /* guard passes */
};

/* What each unit has of it in constant memory. */
struct gmod_device_heap gmod_device_heap(const struct gmod_device_layout *l, const struct gmod_device_facts *f);

/* The metadata as it is at first: layout.size bytes. */
void gmod_device_image(const struct gmod_device_layout *l, void *out);

#endif
