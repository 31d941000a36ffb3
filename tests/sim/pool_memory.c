/*
 * What pools have reserved: segments of whole chunks, divided into pieces. A piece that was freed in stream order is
 * there for the next tenant while the device still runs the last one's work: at once for one that comes behind the
 * free, for others, and for giving memory back, when the free is complete.
 */
#include "sim.h"

#include <stdlib.h>

struct piece { /* of a segment, by address */
	struct piece *next;
	uintptr_t at;
	size_t size;
	size_t asked; /* of it, while it is taken: what the pool calls used (measured) */
	bool taken;
	struct op *after; /* the latest free, until it is complete; NULL: anybody may have it, once it is not taken */
};

struct segment {
	struct segment *next;
	uintptr_t at;
	size_t size;
	struct piece *pieces;
};

static size_t rounded(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* The high mark is the next attribute. */
static void count(CUmemoryPool pool, CUmemPool_attribute current, size_t more, size_t less)
{
	cuuint64_t *now = &pool->attribute[current];

	*now += more - less;
	if (*now > now[1])
		now[1] = *now;
}

static void let_in(CUmemoryPool pool, const struct segment *segment)
{
	for (int d = 0; d < sim.devices; d++)
		access_give(segment->at, segment->size, d, pool->readers >> d & 1, pool->writers >> d & 1);
}

void pool_let_in(CUmemoryPool pool)
{
	for (struct segment *s = pool->segments; s; s = s->next)
		let_in(pool, s);
}

static struct segment *reserve(CUmemoryPool pool, size_t bytes)
{
	size_t size = rounded(bytes, SIM_CHUNK);
	struct segment *segment;
	uintptr_t at;

	if ((pool->limit && pool->attribute[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT] + size > pool->limit) ||
	    !device_charge(pool->device, size))
		return NULL;
	at = chunks_take(size, true);
	if (!at || !arena_open(&sim_device_arena, at, size)) {
		device_uncharge(pool->device, size);
		return NULL;
	}
	segment = calloc(1, sizeof(*segment));
	*segment = (struct segment){pool->segments, at, size, calloc(1, sizeof(struct piece))};
	*segment->pieces = (struct piece){.at = at, .size = size};
	pool->segments = segment;
	access_take(at, size);
	let_in(pool, segment);
	count(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, size, 0);
	return segment;
}

static void give_back(CUmemoryPool pool, struct segment *segment)
{
	UNLINK(pool->segments, segment);
	arena_close(&sim_device_arena, segment->at, segment->size);
	chunks_give(segment->at, segment->size);
	device_uncharge(pool->device, segment->size);
	count(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 0, segment->size);
	free(segment->pieces);
	free(segment);
}

static bool is_free(struct piece *piece)
{
	if (piece->after && piece->after->done) {
		op_drop(piece->after);
		piece->after = NULL;
	}
	return !piece->taken && !piece->after;
}

/* Pieces side by side that anybody may have become one. */
static void join(struct segment *segment)
{
	for (struct piece *p = segment->pieces; p; p = p->next)
		while (is_free(p) && p->next && is_free(p->next)) {
			struct piece *next = p->next;

			p->size += next->size;
			p->next = next->next;
			free(next);
		}
}

/* Does work that is given to the stream now come behind that op? */
static bool may_have(CUstream stream, struct piece *piece, size_t size)
{
	return piece->size >= size &&
	       (is_free(piece) || (!piece->taken && queue_is_behind(stream->last, piece->after)));
}

static uintptr_t take(struct piece *piece, size_t asked)
{
	size_t size = rounded(asked, SIM_UNIT);
	struct piece *rest;

	if (piece->size > size) {
		rest = calloc(1, sizeof(*rest));
		*rest =
		    (struct piece){piece->next, piece->at + size, piece->size - size, 0, false, op_hold(piece->after)};
		piece->next = rest;
		piece->size = size;
	}
	piece->taken = true;
	piece->asked = asked;
	return piece->at;
}

uintptr_t pool_take(CUmemoryPool pool, CUstream stream, size_t bytes)
{
	size_t size = rounded(bytes, SIM_UNIT);
	struct segment *segment;

	count(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, bytes, 0);
	for (segment = pool->segments; segment; segment = segment->next) {
		join(segment);
		for (struct piece *p = segment->pieces; p; p = p->next)
			if (may_have(stream, p, size))
				return take(p, bytes);
	}
	segment = reserve(pool, size);
	if (segment)
		return take(segment->pieces, bytes);
	count(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0, bytes);
	return 0;
}

/*
 * after NULL: freed at once by cuMemFree, but what the piece had come behind when it was taken may still be to run.
 * Driver 580 goes on calling it used, and gives free pages back, as far as the pool keeps none (measured).
 */
void pool_give(CUmemoryPool pool, uintptr_t at, struct op *after)
{
	struct segment *segment = pool->segments;
	struct piece *piece;

	while (at - segment->at >= segment->size)
		segment = segment->next;
	for (piece = segment->pieces; piece->at != at; piece = piece->next)
		;
	piece->taken = false;
	if (!after) {
		pool_trim(pool, pool->attribute[CU_MEMPOOL_ATTR_RELEASE_THRESHOLD]);
		return;
	}
	op_drop(piece->after);
	piece->after = op_hold(after);
	count(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0, piece->asked);
}

/* What nobody has and no free is pending of goes, as long as so much stays. */
void pool_trim(CUmemoryPool pool, size_t keep)
{
	struct segment *next;

	for (struct segment *s = pool->segments; s; s = next) {
		next = s->next;
		join(s);
		if (is_free(s->pieces) && !s->pieces->next &&
		    pool->attribute[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT] - s->size >= keep)
			give_back(pool, s);
	}
}
