#include "monitor/watch/missed.h"

#include "lib/driver/driver.h"
#include "monitor/registry/freed.h"
#include "monitor/registry/index.h"

#define REACH (UINT64_C(1) << 30) /* farther away than that, a buffer has nothing to do with an address */

/* The access that missed, and the buffer that it missed. */
struct missed {
	const struct gmod_fault *fault;
	uint32_t mapped;   /* a bit for each lane whose access is where memory is */
	uint64_t distance; /* of the closest; UINT64_MAX: none yet */
	unsigned lane;
	enum gmod_relation related;
	struct gmod_buffer_facts buffer;
};

typedef void visit(struct missed *m, const struct gmod_buffer_facts *b);

static bool holds(const struct gmod_buffer_facts *b, uint64_t address, uint64_t bytes)
{
	return address >= b->base && address - b->base <= b->size && b->size - (address - b->base) >= bytes;
}

/* Also while a fault is under way, and after it, in any thread (measured on an H200, driver 580). */
static bool is_mapped(uint64_t address)
{
	int mapped = 0;

	return NEXT(cuPointerGetAttribute)(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address) == CUDA_SUCCESS && mapped;
}

/* Where all of them are, it is memory that this device may not access: each of them faulted. */
static void find_mapped(struct missed *m)
{
	uint32_t known = 0;

	for (unsigned i = 0; i < m->fault->lane_count; i++) {
		uint64_t at = m->fault->lane[i].address;

		if (!m->fault->lane[i].has_address)
			continue;
		known |= UINT32_C(1) << i;
		if (is_mapped(at) && is_mapped(at + m->fault->operand.bytes - 1))
			m->mapped |= UINT32_C(1) << i;
	}
	if (m->mapped == known)
		m->mapped = 0;
}

/* Live ones are visited first: of two that are as close, the first stays. */
static void note_closest(struct missed *m, const struct gmod_buffer_facts *b)
{
	for (unsigned i = 0; i < m->fault->lane_count; i++) {
		uint64_t at = m->fault->lane[i].address, end = b->base + b->size, distance;
		enum gmod_relation related = at >= b->base ? GMOD_PAST_END : GMOD_BEFORE_START;

		if (!m->fault->lane[i].has_address || m->mapped >> i & 1)
			continue;
		distance = at < b->base ? b->base - at : at < end ? 0 : at - end;
		if (holds(b, at, m->fault->operand.bytes))
			related = GMOD_INSIDE;
		/* The end of one before the start of the next. */
		if (distance < REACH && distance + (related == GMOD_BEFORE_START) < m->distance)
			*m = (struct missed){m->fault, m->mapped, distance, i, related, *b};
	}
}

static void note_misaligned(struct missed *m, const struct gmod_buffer_facts *b)
{
	for (unsigned i = 0; i < m->fault->lane_count && !b->freed_ns && m->related == GMOD_NOT_RELATED; i++)
		if (m->fault->lane[i].has_address && m->fault->lane[i].address % m->fault->operand.bytes &&
		    holds(b, m->fault->lane[i].address, m->fault->operand.bytes))
			*m = (struct missed){m->fault, m->mapped, 0, i, GMOD_INSIDE, *b};
}

static void visit_buffers(visit *visits, struct missed *m)
{
	uint32_t end = gmod_registry_used();
	struct gmod_buffer_facts b;

	for (uint32_t i = 0; i < end; i++)
		if (gmod_live_facts_at(i, &b))
			visits(m, &b);
	for (uint64_t n = 0; gmod_freed_nth(n, &b); n++)
		visits(m, &b);
}

/*
 * Memory that GMOD does not guard, where other lanes of the warp are. Of a reservation that is mapped in parts the
 * driver tells the whole (measured): nothing then, and no buffer that is farther away.
 */
static void note_neighbours(struct missed *m)
{
	for (unsigned i = 0; i < m->fault->lane_count; i++) {
		struct gmod_buffer_facts b = {.backend = "native"};
		uint64_t at = m->fault->lane[i].address;

		if (!(m->mapped >> i & 1) || gmod_index_find_now(at).record ||
		    NEXT(cuPointerGetAttribute)(&b.base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at) != CUDA_SUCCESS ||
		    NEXT(cuPointerGetAttribute)(&b.size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at) != CUDA_SUCCESS)
			continue;
		note_closest(m, &b);
		if (m->related == GMOD_INSIDE)
			*m = (struct missed){m->fault, m->mapped, 0, m->lane, GMOD_NOT_RELATED, {0}};
	}
}

void gmod_find_missed(struct gmod_finding *f)
{
	const struct gmod_fault *fault = f->fault;
	struct missed m = {.fault = fault, .distance = UINT64_MAX};

	if (fault->kind == GMOD_FAULT_MISALIGNED) {
		visit_buffers(note_misaligned, &m);
	} else {
		find_mapped(&m);
		note_neighbours(&m);
		visit_buffers(note_closest, &m);
	}
	f->fault_lane = m.lane;
	f->related = m.related;
	if (m.related != GMOD_NOT_RELATED)
		f->buffer = m.buffer;
	while (m.related == GMOD_NOT_RELATED && f->fault_lane + 1 < fault->lane_count &&
	       (!fault->lane[f->fault_lane].has_address || m.mapped >> f->fault_lane & 1))
		f->fault_lane++;
	if (f->fault_lane < fault->lane_count && fault->lane[f->fault_lane].has_address) {
		f->address = fault->lane[f->fault_lane].address;
		f->length = fault->operand.bytes;
	}
	if (m.related == GMOD_INSIDE || m.related == GMOD_BEFORE_START)
		f->offset = (int64_t)(f->address - m.buffer.base);
	else if (m.related == GMOD_PAST_END)
		f->offset = (int64_t)m.distance;
}
