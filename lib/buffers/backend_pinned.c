/* Pinned host memory, as the program asked for it: the CPU reads all of it. */
#include "lib/base/facts.h"
#include "lib/buffers/backend.h"

static enum gmod_answer alloc_buffer(struct gmod_request *q, struct gmod_place *place)
{
	struct gmod_layout l;
	void *p = NULL;
	CUresult result;

	if (q->memory != GMOD_MEM_HOST)
		return GMOD_DECLINES;
	if (!gmod_layout_pinned(q->size, gmod_page_size(), &l))
		return GMOD_FAILS;
	result = q->plain_host ? NEXT(cuMemAllocHost_v2)(&p, l.total) : NEXT(cuMemHostAlloc)(&p, l.total, q->flags);
	if (result != CUDA_SUCCESS)
		return GMOD_FAILS;
	gmod_layout_place(&l, q->size, (uint64_t)(uintptr_t)p, place);
	return GMOD_ACCEPTS;
}

static CUresult free_buffer(struct gmod_record *r)
{
	return NEXT(cuMemFreeHost)((void *)(uintptr_t)gmod_record_details(r)->raw);
}

const struct gmod_backend gmod_backend_pinned = {
    .name = "pinned",
    .sees_body = true,
    .alloc = alloc_buffer,
    .free = free_buffer,
};
