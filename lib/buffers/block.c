#include "lib/buffers/block.h"

#include "lib/buffers/mapped.h"
#include "lib/buffers/small.h"

/* What the program's own call would have been, for `size` bytes. */
static CUresult alloc_raw(const struct gmod_request *q, size_t size, bool unified, uint64_t *out)
{
	CUdeviceptr device = 0;
	void *host = NULL;
	CUresult r;

	if (q->memory == GMOD_MEM_HOST)
		r = q->plain_host ? NEXT(cuMemAllocHost_v2)(&host, size) : NEXT(cuMemHostAlloc)(&host, size, q->flags);
	else if (q->memory == GMOD_MEM_MANAGED)
		r = NEXT(cuMemAllocManaged)(&device, size, q->flags);
	else if (unified)
		r = NEXT(cuMemAllocManaged)(&device, size, CU_MEM_ATTACH_GLOBAL);
	else
		r = NEXT(cuMemAlloc_v2)(&device, size);
	if (r == CUDA_SUCCESS)
		*out = q->memory == GMOD_MEM_HOST ? (uint64_t)(uintptr_t)host : (uint64_t)device;
	return r;
}

static struct gmod_mapped_block mapped_block(const struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);

	return (struct gmod_mapped_block){d->raw, d->total, r->bounds.head_from, r->bounds.head_to,
					  r->bounds.tail_from};
}

static CUresult free_mapped(const struct gmod_record *r)
{
	struct gmod_mapped_block b = mapped_block(r);

	return gmod_mapped_free(gmod_record_details(r)->context, &b);
}

bool gmod_block_is_small(const struct gmod_record *r)
{
	return gmod_record_details(r)->mapped && r->bounds.size < GMOD_LARGE;
}

/* Without a twin, which says what the program may have, the block waits for the next buffer. */
static CUresult alloc_small(struct gmod_plan *plan, struct gmod_block *out)
{
	CUresult r = CUDA_SUCCESS;

	out->raw = plan->kept;
	plan->kept = 0;
	if (!out->raw)
		r = gmod_mapped_alloc(plan->context, &plan->layout, &out->raw);
	if (r != CUDA_SUCCESS)
		return r;
	r = gmod_small_twin(&out->twin);
	if (r != CUDA_SUCCESS)
		gmod_small_unused(plan->context, out->raw);
	return r;
}

CUresult gmod_block_alloc(struct gmod_plan *plan, struct gmod_block *out)
{
	out->twin = 0;
	if (plan->small)
		return alloc_small(plan, out);
	return plan->mapped ? gmod_mapped_alloc(plan->context, &plan->layout, &out->raw)
			    : alloc_raw(plan->request, plan->layout.total, true, &out->raw);
}

static CUresult free_small(struct gmod_record *record)
{
	const struct gmod_details *d = gmod_record_details(record);
	CUresult r = gmod_small_free_twin(record);

	if (r != CUDA_SUCCESS || gmod_small_keep(d->context, d->raw))
		return r;
	return free_mapped(record);
}

CUresult gmod_block_free(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);

	if (d->mapped)
		return gmod_block_is_small(r) ? free_small(r) : free_mapped(r);
	return d->memory == GMOD_MEM_HOST ? NEXT(cuMemFreeHost)((void *)(uintptr_t)d->raw) : NEXT(cuMemFree_v2)(d->raw);
}

void gmod_block_drop(const struct gmod_record *r)
{
	struct gmod_mapped_block b = mapped_block(r);

	gmod_mapped_drop(&b);
}

CUresult gmod_block_alloc_native(const struct gmod_request *q, uint64_t *out)
{
	return alloc_raw(q, q->size, false, out);
}
