#include "monitor/watch/missed.h"

#include "lib/driver/driver.h"
#include "monitor/registry/freed.h"
#include "monitor/registry/index.h"

#define REACH (UINT64_C(1) << 30) /* farther away than that, a buffer has nothing to do with an address */

struct search {
	struct gmod_finding *finding; /* has the closest so far */
	uint64_t distance;            /* of that; UINT64_MAX: none yet */
	uint32_t faulty;              /* a bit for each lane that may have faulted */
	bool given;                   /* the kernel was given the address of the closest */
};

bool gmod_is_given(struct gmod_bytes parameters, uint64_t base, uint64_t size)
{
	uint64_t word;

	for (size_t at = 0; gmod_read(parameters, at, &word, sizeof(word)); at += sizeof(word))
		if (word - base < size)
			return true;
	return false;
}

/* Also while a fault is under way, and after it, in any thread (measured on an H200, driver 580). */
static bool is_mapped(uint64_t address)
{
	int mapped = 0;

	return NEXT(cuPointerGetAttribute)(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address) == CUDA_SUCCESS && mapped;
}

static bool is_faulty(const struct gmod_fault *fault, uint64_t at)
{
	uint64_t bytes = fault->operand.bytes;

	return fault->kind == GMOD_FAULT_MISALIGNED ? at % bytes : !is_mapped(at) || !is_mapped(at + bytes - 1);
}

/* Where memory is below all of them, it is memory that this device may not access: each of them faulted. */
static uint32_t faulty_lanes(const struct gmod_fault *fault)
{
	uint32_t known = 0, faulty = 0;

	for (unsigned i = 0; i < fault->lane_count; i++)
		if (fault->lane[i].has_address) {
			known |= UINT32_C(1) << i;
			faulty |= (uint32_t)is_faulty(fault, fault->lane[i].address) << i;
		}
	return faulty ? faulty : known;
}

/*
 * Live ones come first: of two that are as close, the first stays, unless the kernel was given the second one's address
 * and not the first one's. The end of one comes before the start of the next.
 */
static void note_closest(struct search *s, const struct gmod_buffer_facts *b)
{
	struct gmod_finding *f = s->finding;
	uint64_t end = b->base + b->size;
	bool given = gmod_is_given(f->fault->parameters, b->base, 1);

	for (unsigned i = 0; i < f->fault->lane_count; i++) {
		uint64_t at = f->fault->lane[i].address;
		uint64_t distance = at < b->base ? b->base - at : at < end ? 0 : at - end;
		enum gmod_relation related = at < b->base                                     ? GMOD_BEFORE_START
					     : at > end || end - at < f->fault->operand.bytes ? GMOD_PAST_END
											      : GMOD_INSIDE;

		if (!(s->faulty >> i & 1) || distance >= REACH ||
		    (distance + (related == GMOD_BEFORE_START) >= s->distance &&
		     !(given && !s->given && distance == s->distance && related == f->related)))
			continue;
		s->distance = distance;
		s->given = given;
		f->fault_lane = i;
		f->related = related;
		f->buffer = *b;
	}
}

static void name_none(struct gmod_finding *f)
{
	f->related = GMOD_NOT_RELATED;
	f->buffer = (struct gmod_buffer_facts){0};
}

/* Of a buffer that lives, or of one whose kernel ran on when it was freed, as of a tensor that Python drops early. */
static bool is_guarded(uint64_t address)
{
	return gmod_index_find_now(address).record || gmod_freed_had_fenced(address);
}

/*
 * Memory that GMOD does not guard, where other lanes of the warp are. Of a reservation that is mapped in parts the
 * driver tells the whole (measured): nothing then, and no buffer that is farther away.
 */
static void note_neighbours(struct search *s)
{
	const struct gmod_fault *fault = s->finding->fault;

	for (unsigned i = 0; i < fault->lane_count; i++) {
		struct gmod_buffer_facts b = {.backend = "native"};
		uint64_t at = fault->lane[i].address;

		if (!fault->lane[i].has_address || s->faulty >> i & 1 || is_guarded(at) ||
		    NEXT(cuPointerGetAttribute)(&b.base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at) != CUDA_SUCCESS ||
		    NEXT(cuPointerGetAttribute)(&b.size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at) != CUDA_SUCCESS)
			continue;
		note_closest(s, &b);
		if (s->finding->related == GMOD_INSIDE)
			name_none(s->finding);
	}
}

void gmod_find_missed(struct gmod_finding *f)
{
	const struct gmod_fault *fault = f->fault;
	struct search s = {f, UINT64_MAX, faulty_lanes(fault), false};
	uint32_t end = gmod_registry_used();
	struct gmod_buffer_facts b;

	name_none(f);
	note_neighbours(&s);
	for (uint32_t i = 0; i < end; i++)
		if (gmod_live_facts_at(i, &b))
			note_closest(&s, &b);
	for (uint64_t n = 0; gmod_freed_nth(n, &b); n++)
		note_closest(&s, &b);
	if (fault->kind == GMOD_FAULT_MISALIGNED && (f->related != GMOD_INSIDE || f->buffer.freed_ns))
		name_none(f);
	if (f->related == GMOD_NOT_RELATED)
		f->fault_lane = s.faulty ? (unsigned)__builtin_ctz(s.faulty) : 0;
	if (!s.faulty)
		return;
	f->address = fault->lane[f->fault_lane].address;
	f->length = fault->operand.bytes;
	if (f->related == GMOD_PAST_END)
		f->offset = (int64_t)s.distance;
	else if (f->related != GMOD_NOT_RELATED)
		f->offset = (int64_t)(f->address - f->buffer.base);
}
