#include "lib/buffers/small.h"

#include "lib/buffers/asked.h"
#include "lib/buffers/mapped.h"
#include "lib/base/phase.h"
#include "lib/base/facts.h"

enum { KEPT_MAX = 256 }; /* as option small_mapped allows at most */

/* What a context has: buffers that are mapped, and blocks for the next ones, in any order. */
static struct small {
	_Atomic unsigned mapped, count;
	_Atomic uint64_t kept[KEPT_MAX]; /* 0: none */
} of_all[GMOD_CONTEXTS];

static struct small *of(const struct gmod_context *c)
{
	return &of_all[gmod_context_index(c)];
}

/* In a context of the device. */
static unsigned ask_for_max(int device)
{
	uint64_t wanted = gmod_options()->small_mapped, allowed;
	size_t available = 0, total = 0;

	(void)device;
	if (!wanted)
		return 0;
	if (NEXT(cuMemGetInfo_v2)(&available, &total) != CUDA_SUCCESS)
		gmod_degraded("cuMemGetInfo");
	allowed = total / GMOD_SMALL_SHARE / GMOD_LARGE;
	return (unsigned)(wanted < allowed ? wanted : allowed);
}

/* How many there may be. */
static unsigned max_of(const struct gmod_context *c)
{
	static struct gmod_asked asked;

	return gmod_ask_once(&asked, c->device, ask_for_max);
}

bool gmod_small_has_room(const struct gmod_context *c)
{
	return atomic_load_explicit(&of(c)->mapped, memory_order_relaxed) < max_of(c);
}

void gmod_small_count(const struct gmod_context *c, int by)
{
	atomic_fetch_add_explicit(&of(c)->mapped, (unsigned)by, memory_order_relaxed);
}

uint64_t gmod_small_take(struct gmod_context *c)
{
	if (!atomic_load_explicit(&of(c)->count, memory_order_relaxed))
		return 0;
	for (unsigned i = 0; i < max_of(c); i++) {
		uint64_t raw = atomic_exchange_explicit(&of(c)->kept[i], 0, memory_order_acquire);

		if (!raw)
			continue;
		atomic_fetch_sub_explicit(&of(c)->count, 1, memory_order_relaxed);
		return raw;
	}
	return 0;
}

static bool put(struct gmod_context *c, uint64_t raw)
{
	for (unsigned i = 0; i < max_of(c); i++) {
		uint64_t none = 0;

		/* Counted first: whoever takes it subtracts. */
		atomic_fetch_add_explicit(&of(c)->count, 1, memory_order_relaxed);
		if (atomic_compare_exchange_strong_explicit(&of(c)->kept[i], &none, raw, memory_order_release,
							    memory_order_relaxed))
			return true;
		atomic_fetch_sub_explicit(&of(c)->count, 1, memory_order_relaxed);
	}
	return false;
}

/* From inside: a context that is about to go waits, and nothing is put where nobody would look for it any more. */
bool gmod_small_keep(struct gmod_context *c, uint64_t raw)
{
	bool done;

	if (!gmod_context_use_begin(c))
		return false;
	done = put(c, raw);
	gmod_context_use_end(c);
	return done;
}

static struct gmod_mapped_block block_at(uint64_t raw)
{
	struct gmod_layout layout;
	struct gmod_place p;

	gmod_layout_mapped(1, gmod_page_size(), &layout);
	gmod_layout_place(&layout, 1, raw, &p);
	return (struct gmod_mapped_block){raw, layout.total, p.zone_head, p.body, p.zone_tail};
}

static CUresult free_at(const struct gmod_context *c, uint64_t raw)
{
	struct gmod_mapped_block b = block_at(raw);

	return gmod_mapped_free(c, &b);
}

void gmod_small_unused(struct gmod_context *c, uint64_t raw)
{
	CUstreamCaptureMode mode;

	if (gmod_small_keep(c, raw))
		return;
	mode = gmod_relaxed_begin();
	if (free_at(c, raw) != CUDA_SUCCESS)
		gmod_degraded("a block that was not used");
	gmod_relaxed_end(mode);
}

/* The context number i, entered, if it has kept anything on that device; NULL: not so. */
static struct gmod_context *enter_keeper(unsigned i, int device)
{
	struct gmod_context *c = gmod_context_at(i);

	if (!atomic_load_explicit(&of(c)->count, memory_order_relaxed) || !gmod_context_use_begin(c))
		return NULL;
	if (c->device == device)
		return c;
	gmod_context_use_end(c);
	return NULL;
}

/* The sum of what is said of each that has kept anything on the device. */
static uint64_t sum_of_keepers(int device, uint64_t (*of)(struct gmod_context *))
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct gmod_context *c = enter_keeper(i, device);

		if (!c)
			continue;
		sum += of(c);
		gmod_context_use_end(c);
	}
	return sum;
}

static uint64_t bytes_kept(struct gmod_context *c)
{
	return atomic_load_explicit(&of(c)->count, memory_order_relaxed) * (uint64_t)GMOD_LARGE;
}

uint64_t gmod_small_kept_bytes(const struct gmod_context *c)
{
	return sum_of_keepers(c->device, bytes_kept);
}

static uint64_t give_back(struct gmod_context *c)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	uint64_t count = 0, raw;

	for (; (raw = gmod_small_take(c)); count++) {
		if (free_at(c, raw) == CUDA_SUCCESS)
			continue;
		/* The context is broken: they stay until it goes. */
		put(c, raw);
		break;
	}
	gmod_relaxed_end(mode);
	return count;
}

bool gmod_small_give_back(const struct gmod_context *c)
{
	return sum_of_keepers(c->device, give_back) > 0;
}

void gmod_small_gone(struct gmod_context *c)
{
	uint64_t raw;

	while ((raw = gmod_small_take(c))) {
		struct gmod_mapped_block b = block_at(raw);

		gmod_mapped_drop(&b);
	}
}

bool gmod_small_made_room(CUresult r)
{
	struct gmod_context *c = r == CUDA_ERROR_OUT_OF_MEMORY && gmod_on() ? gmod_context_owner() : NULL;

	return c && gmod_small_give_back(c);
}

CUresult gmod_small_twin(uint64_t *twin)
{
	CUdeviceptr p = 0;
	CUresult r = NEXT(cuMemAlloc_v2)(&p, 1);

	if (r == CUDA_SUCCESS)
		*twin = p;
	return r;
}

CUresult gmod_small_free_twin(struct gmod_record *record)
{
	struct gmod_details *d = gmod_record_details(record);
	CUresult r = d->twin ? NEXT(cuMemFree_v2)(d->twin) : CUDA_SUCCESS;

	if (r == CUDA_SUCCESS)
		d->twin = 0;
	return r;
}
