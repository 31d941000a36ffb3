/* Device buffers from 2 MiB up: device memory between two pages of the host (lib/buffers/mapped.h). */
#include "lib/buffers/accounts.h"
#include "lib/buffers/mapped.h"

static enum gmod_answer accepts(struct gmod_request *q)
{
	if (q->memory != GMOD_MEM_DEVICE || q->size < GMOD_LARGE || !gmod_mapped_works(q->context) ||
	    !gmod_mapped_has_room())
		return GMOD_DECLINES;
	return gmod_accounts_answer(q, q->size, 0);
}

static CUresult alloc(const struct gmod_request *q, struct gmod_record *r, struct gmod_place *place)
{
	(void)r;
	return gmod_mapped_alloc(q->context, q->size, place);
}

static CUresult give_back(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);

	return gmod_mapped_free(d->context, r->bounds.size, d->raw);
}

static void drop(struct gmod_record *r)
{
	gmod_mapped_drop(r->bounds.size, gmod_record_details(r)->raw);
}

const struct gmod_backend gmod_backend_mapped = {
    .name = "mapped",
    .says = "unified, large buffers mapped",
    .accepts = accepts,
    .alloc = alloc,
    .arm = gmod_mapped_arm,
    .look = gmod_mapped_look,
    .free = give_back,
    .drop = drop,
    .works = gmod_mapped_works,
    .open = gmod_mapped_open,
};
