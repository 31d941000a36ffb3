/* Advice, prefetches and their kin: what the program believes to be cudaMalloc'd takes none. */
#include "lib/buffers/misuse.h"
#include "lib/hooks/family.h"
#include "lib/hooks/refuse.h"
#include "lib/hooks/where.h"

/*
 * Advice, prefetch and range attributes are for managed memory. The driver refuses a range that is not all within
 * one managed allocation of the program's (measured: 1001 bytes of a 1000-byte one), and any on cudaMalloc'd memory.
 */
bool gmod_refuses_advice(CUdeviceptr address, size_t count)
{
	struct gmod_found found;

	switch (gmod_where_is(address, &found)) {
	case GMOD_IN_BUFFER:
		return gmod_record_details(found.record)->memory == GMOD_MEM_DEVICE ||
		       gmod_misuse_is_outside(address, count);
	case GMOD_IN_REDZONE:
		return true;
	default:
		return false;
	}
}

bool gmod_refuses_advices(const CUdeviceptr *addresses, const size_t *sizes, size_t count)
{
	for (size_t i = 0; addresses && sizes && i < count; i++)
		if (gmod_refuses_advice(addresses[i], sizes[i]))
			return true;
	return false;
}

/*
 * Attaching takes a whole managed allocation, or by length 0 all of it: the driver's allocation is larger than the
 * program's. *length and *address become the driver's; false: refused.
 */
static bool translate_attach(CUdeviceptr *address, size_t *length)
{
	struct gmod_found found;
	enum gmod_where where = gmod_where_is(*address, &found);
	const struct gmod_details *d;

	gmod_ordered_passed();
	if (where == GMOD_ELSEWHERE)
		return true;
	d = gmod_record_details(found.record);
	if (where == GMOD_IN_REDZONE || d->memory == GMOD_MEM_DEVICE || *address != found.bounds.user ||
	    (*length && *length != found.bounds.size))
		return false;
	*address = d->raw;
	*length = 0;
	return true;
}

CUresult gmod_attach(CUstream stream, CUdeviceptr address, size_t length, unsigned flags,
		     PFN_cuStreamAttachMemAsync_v6000 next, const char *entry_point)
{
	if (!translate_attach(&address, &length))
		return GMOD_REFUSED;
	return gmod_done(next(stream, address, length, flags), entry_point);
}
