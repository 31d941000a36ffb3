/*
 * Where the parts of a device heap lie, and what its header says at first. Arithmetic only: nothing here touches a GPU.
 *
 *     metadata: header │ chunk table │ arrays │ segment table │ words and summaries of the sets
 *     chunks:   64 KiB each, as many as there may ever be; those that have memory at first are in the set of free
 * chunks
 */
#ifndef GMOD_HOST_DEVICE_LAYOUT_H
#define GMOD_HOST_DEVICE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/gmod/device_heap.h"

/* Byte offsets into the metadata. */
struct gmod_device_layout {
	uint32_t chunks, arrays, numbers; /* numbers: of all segments that fit into the chunks, and 0 */
	size_t chunk_table, array_table, segment_table;
	size_t free_chunks, free_numbers, spare_numbers, class_chunks; /* words; each is followed by its summary */
	size_t chunk_set_size, number_set_size;                        /* of one set, words and summary */
	size_t size;                                                   /* of all */
};

/* false: more chunks than there can be, or none, or too many arrays. */
bool gmod_device_layout(uint32_t chunks, uint32_t arrays, struct gmod_device_layout *out);

/* What a heap's header says, beside its layout. Addresses are the device's. */
struct gmod_device_header_facts {
	uint64_t metadata, chunks, ring;
	const uint64_t *key; /* two words */
	enum gmod_heap_mode mode;
	uint32_t committed; /* chunks that have memory at first */
	uint32_t delay;     /* guard passes */
};

/*
 * The header of a heap. What else must be there: the words of gmod_device_set_image() for free_chunks (those that have
 * memory) and free_numbers; zeros everywhere else.
 */
void gmod_device_header(const struct gmod_device_layout *l, const struct gmod_device_header_facts *f,
			struct gmod_device_heap *out);

/* A set of the members [from, to) out of `members`: words and summary. */
void gmod_device_set_image(uint32_t members, uint32_t from, uint32_t to, uint64_t *out);

#endif
