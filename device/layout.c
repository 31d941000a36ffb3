#include "device/layout.h"

#include <string.h>

_Static_assert(sizeof(struct gmod_segment) <= GMOD_SEGMENT_SIZE, "a segment fits into its block");
_Static_assert(sizeof(struct gmod_array) == 128, "an array has a cache line to itself");
_Static_assert(sizeof(struct gmod_device_finding) % 8 == 0, "a finding is copied by words");
_Static_assert(GMOD_CHUNK_WORDS * 64 >= GMOD_CHUNK_SIZE / GMOD_BLOCK_MIN, "every block has a bit");

/* Chunk numbers + 1 are 32-bit hints, and 2^24 chunks are a TiB. */
enum { CHUNKS_MAX = 1 << 24, ALIGNMENT = 256, SEGMENTS_A_CHUNK = GMOD_CHUNK_SIZE / GMOD_SEGMENT_SIZE };

static size_t words(uint32_t members)
{
	return ((size_t)members + 63) / 64;
}

static size_t set_size(uint32_t members)
{
	size_t w = words(members);

	return (w + words((uint32_t)w)) * sizeof(uint64_t);
}

static size_t place(size_t *end, size_t size)
{
	size_t at = *end;

	*end += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return at;
}

bool gmod_device_layout(uint32_t chunks, uint32_t arrays, struct gmod_device_layout *out)
{
	struct gmod_device_layout l = {.chunks = chunks, .arrays = arrays, .numbers = chunks * SEGMENTS_A_CHUNK + 1};

	if (!chunks || chunks > CHUNKS_MAX || !arrays || arrays > GMOD_ARRAYS_MAX)
		return false;
	l.chunk_set_size = set_size(chunks);
	l.number_set_size = set_size(l.numbers);
	place(&l.size, sizeof(struct gmod_device_heap));
	l.chunk_table = place(&l.size, chunks * sizeof(struct gmod_chunk));
	l.array_table = place(&l.size, arrays * sizeof(struct gmod_array));
	l.segment_table = place(&l.size, l.numbers * sizeof(uint64_t));
	l.free_chunks = place(&l.size, l.chunk_set_size);
	l.free_numbers = place(&l.size, l.number_set_size);
	l.spare_numbers = place(&l.size, l.number_set_size);
	l.class_chunks = place(&l.size, GMOD_SETS * l.chunk_set_size);
	*out = l;
	return true;
}

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static struct gmod_set set_at(uint64_t address, uint32_t members)
{
	return (struct gmod_set){at(address), at(address + words(members) * sizeof(uint64_t))};
}

/* Places that remember a chunk: with few chunks, few of them, or each would sit on one of its own. */
static uint32_t slots(uint32_t chunks)
{
	uint32_t n = chunks / (2 * GMOD_SETS);

	return n < 1 ? 1 : n > GMOD_SLOTS ? GMOD_SLOTS : n;
}

void gmod_device_header(const struct gmod_device_layout *l, const struct gmod_device_header_facts *f,
			struct gmod_device_heap *out)
{
	memset(out, 0, sizeof(*out));
	out->key[0] = f->key[0];
	out->key[1] = f->key[1];
	out->base = f->chunks;
	out->end = f->chunks + ((uint64_t)l->chunks << GMOD_CHUNK_BITS);
	out->largest = f->mode == GMOD_HEAP_NATIVE ? (uint64_t)1 << 39 : out->end - out->base;
	out->native_low = UINT64_MAX;
	out->mode = f->mode;
	out->chunks = l->chunks;
	out->arrays = l->arrays;
	out->numbers = l->numbers;
	out->slots = slots(f->committed);
	out->delay = f->delay;
	out->given = f->committed;
	out->memory = (uint64_t)l->chunks << 32 | f->committed;
	out->chunk = at(f->metadata + l->chunk_table);
	out->array = at(f->metadata + l->array_table);
	out->segment = at(f->metadata + l->segment_table);
	out->ring = at(f->ring);
	out->free_chunks = set_at(f->metadata + l->free_chunks, l->chunks);
	out->free_numbers = set_at(f->metadata + l->free_numbers, l->numbers);
	out->spare_numbers = set_at(f->metadata + l->spare_numbers, l->numbers);
	for (size_t i = 0; i < GMOD_SETS; i++)
		out->class_chunks[i] = set_at(f->metadata + l->class_chunks + i * l->chunk_set_size, l->chunks);
}

static void put(uint64_t *word, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		word[i / 64] |= (uint64_t)1 << i % 64;
}

void gmod_device_set_image(uint32_t members, uint32_t from, uint32_t to, uint64_t *out)
{
	size_t w = words(members);

	memset(out, 0, set_size(members));
	put(out, from, to);
	for (size_t i = 0; i < w; i++)
		if (out[i])
			put(out + w, (uint32_t)i, (uint32_t)i + 1);
}
