/*
 * The driver's own allocation, a little longer, with a canary behind the user's last byte. The address is the driver's
 * own, and so is the answer to each question about it but how long it is. The driver packs small buffers one behind the
 * other: what is written before one lands in the redzone of the one in front (monitor/watch/damage.c tells them apart).
 *
 * What our bytes take of the device is capped: a request that would take more of it than natively goes native where the
 * cap is reached. The driver says how much is free as it is.
 */
#include "lib/base/asked.h"
#include "lib/base/facts.h"
#include "lib/buffers/backend.h"
#include "lib/buffers/patrol.h"
#include "lib/context/wait.h"

static struct gmod_cap extra_bytes; /* what is free less than natively would be */

/* The cap in KiB, by option redzone_mb or by SHARE of the device's memory. In a context of the device. */
static unsigned ask_for_cap(int device)
{
	enum { SHARE = 400 };
	size_t available, total = 0;

	(void)device;
	if (gmod_options()->redzone_mb)
		return gmod_options()->redzone_mb << 10;
	if (NEXT(cuMemGetInfo_v2)(&available, &total) != CUDA_SUCCESS)
		gmod_degraded("cuMemGetInfo");
	return (unsigned)(total / SHARE >> 10);
}

static bool works_on(int device)
{
	return device < GMOD_DEVICES;
}

/*
 * The less of the cap is taken, the longer redzones are: what strays far lands in one, too. All of what the driver
 * rounds up to is canary, for what is written before the next buffer lands there.
 */
static const struct {
	size_t tail;
	unsigned share; /* of the cap */
} lengths[] = {{GMOD_TAIL_SLACK - GMOD_DEVICE_ALIGNMENT, 10}, {1024, 2}, {GMOD_REDZONE, 1}};

/*
 * The redzone in front, which is nobody else's: under backend=unified a head of the allocation, so that the address is
 * not the driver's own; else, of the first small buffer of a context, the tiny one that the context holds.
 */
static enum gmod_answer alloc_buffer(struct gmod_request *q, struct gmod_place *place)
{
	struct gmod_context *c = q->context;
	bool unified = gmod_options()->backend == GMOD_OPTION_BACKEND_UNIFIED;
	size_t head = unified && q->size < GMOD_LARGE ? GMOD_DEVICE_ALIGNMENT : 0, total, extra, i = 0;
	uint64_t tiny;
	CUdeviceptr raw;

	if (q->memory != GMOD_MEM_DEVICE || !c->stream || !works_on(c->device))
		return GMOD_DECLINES;
	do {
		total = gmod_layout_redzone(q->size, head, lengths[i].tail, &extra);
		if (!total)
			return GMOD_FAILS;
		q->capped = !gmod_take(&extra_bytes, c->device, extra, lengths[i].share, ask_for_cap);
	} while (q->capped && ++i < sizeof(lengths) / sizeof(*lengths));
	if (q->capped)
		return GMOD_FAILS;
	/* First: the driver gives what lies behind it next. */
	tiny = total < GMOD_LARGE && !head ? gmod_context_buffer(c, &c->tiny) : 0;
	if (NEXT(cuMemAlloc_v2)(&raw, total) != CUDA_SUCCESS) {
		gmod_give(&extra_bytes, c->device, extra);
		return GMOD_FAILS;
	}
	gmod_layout_redzone_at(q->size, total, raw, raw + head, place);
	if (raw == tiny + GMOD_EXPORT_PAGE)
		place->zone_head = place->body = raw - GMOD_DEVICE_ALIGNMENT;
	/* What it takes more than natively. */
	q->own = extra;
	return GMOD_ACCEPTS;
}

/* One whose canaries come late may not have them yet. */
static void arm_buffer(const struct gmod_request *q, struct gmod_record *r)
{
	if (gmod_options()->backend != GMOD_OPTION_BACKEND_UNIFIED && !q->late)
		gmod_patrol_add(r);
}

static void lose_buffer(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);

	gmod_give(&extra_bytes, d->device, d->own);
}

static CUresult free_buffer(struct gmod_record *r)
{
	CUresult result = gmod_free_device(r);

	if (result == CUDA_SUCCESS)
		lose_buffer(r);
	return result;
}

const struct gmod_backend gmod_backend_redzone = {
    .name = "device",
    .choices = 1 << GMOD_OPTION_BACKEND_DEVICE | 1 << GMOD_OPTION_BACKEND_UNIFIED | 1 << GMOD_OPTION_BACKEND_FENCE,
    .says = "device, canaries in the driver's own allocations",
    .keeps_back = true,
    .alloc = alloc_buffer,
    .arm = arm_buffer,
    .disarm = gmod_patrol_remove,
    .free = free_buffer,
    .lose = lose_buffer,
    .works = works_on,
};
