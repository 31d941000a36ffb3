#include "device/layout.h"

#include <string.h>

#include "include/gmod/device_slab.h"

_Static_assert(sizeof(struct gmod_device_finding) % 8 == 0, "a finding is read by words");
_Static_assert(GMOD_CHUNK_WORDS * 32 >= GMOD_CHUNK_SIZE / (GMOD_BLOCK_MIN + GMOD_ENTRY_SIZE), "every block has a bit");

enum { CHUNKS_MAX = (1 << GMOD_CHUNKS_BITS) - 1, ALIGNMENT = 256 };

static uint32_t words(uint32_t members)
{
	return (members + 31) / 32;
}

static size_t place(size_t *end, size_t size)
{
	size_t at = *end;

	*end += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return at;
}

bool gmod_device_layout(uint32_t chunks, uint32_t guards, struct gmod_device_layout *out)
{
	struct gmod_device_layout l = {.chunks = chunks, .guards = guards, .set_words = words(chunks)};

	if (!chunks || chunks > CHUNKS_MAX || !guards || guards > GMOD_GUARDS_MAX)
		return false;
	l.set_marks = words(l.set_words);
	place(&l.size, sizeof(struct gmod_heap_state));
	l.chunk_table = place(&l.size, chunks * sizeof(struct gmod_chunk));
	l.sets = place(&l.size, GMOD_SETS * (l.set_words + l.set_marks) * sizeof(uint32_t));
	*out = l;
	return true;
}

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* Places that remember a chunk: with few chunks, few of them, or each would sit on one of its own. */
static uint32_t slots(uint32_t chunks)
{
	uint32_t n = 1;

	while (n < GMOD_SLOTS && n * GMOD_SETS <= chunks)
		n *= 2;
	return n;
}

struct gmod_device_heap gmod_device_heap(const struct gmod_device_layout *l, const struct gmod_device_facts *f)
{
	struct gmod_device_heap h = {
	    .key = {f->key[0], f->key[1]},
	    .base = f->chunks,
	    .largest = ((uint64_t)l->chunks << GMOD_CHUNK_BITS) - GMOD_ENTRY_SIZE,
	    .chunks = l->chunks,
	    .set_words = l->set_words,
	    .set_marks = l->set_marks,
	    .guards = l->guards,
	    .slots = slots(l->chunks),
	    .delay = f->delay,
	    .state = at(f->metadata),
	    .chunk = at(f->metadata + l->chunk_table),
	    .sets = at(f->metadata + l->sets),
	    .ring = at(f->ring),
	};

	for (uint32_t i = 0; i <= GMOD_CLASSES; i++)
		h.shape[i] = gmod_class_shape(i);
	return h;
}

void gmod_device_image(const struct gmod_device_layout *l, void *out)
{
	uint32_t *free = (uint32_t *)(void *)((char *)out + l->sets) + GMOD_SET_FREE * (l->set_words + l->set_marks);

	memset(out, 0, l->size);
	for (uint32_t i = 0; i < l->chunks; i++) {
		free[i / 32] |= UINT32_C(1) << i % 32;
		free[l->set_words + i / 1024] |= UINT32_C(1) << i / 32 % 32;
	}
}
