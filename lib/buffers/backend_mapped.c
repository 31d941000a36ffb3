/*
 * Device buffers that are mapped (lib/buffers/mapped.h): those from GMOD_LARGE up, and the first small ones of a
 * context.
 *
 * A small buffer in managed memory is slow to copy and to fill: 4 bytes to the device take 12.4 us instead of the
 * native 1.4 (measured on an H200). So some are mapped, each in GMOD_LARGE of device memory: as many at once as option
 * small_mapped says and as take no more than SHARE of the device's memory together. All around such a buffer is slack,
 * but for the page behind it: what is written before it is found by gathers, not by sweeps.
 *
 * To map that and to give it back takes 270 us (measured), so what is freed is cached. A native buffer of one byte, the
 * twin, comes and goes with each user of the memory, by the calls that the program made, in its own capture mode: they
 * answer and wait as the native ones would, and take a microsecond. What cannot be asked of them is memory of that
 * size; what is cached is given back when it runs short.
 *
 *     alloc ──► cached memory, or new ──► twin ──► canaries ──► LIVE
 *     free  ──► RELEASING ──► twin freed: the device is done ──► verified ──► cached, or given back
 *
 * All of it is laid out the same, wherever in it the buffer lies.
 */
#include "lib/base/asked.h"
#include "lib/base/facts.h"
#include "lib/buffers/mapped.h"

/* ---- large buffers ---- */

static bool is_large(const struct gmod_request *q)
{
	return q->memory == GMOD_MEM_DEVICE && q->size >= GMOD_LARGE;
}

static enum gmod_answer alloc_large(struct gmod_request *q, uint64_t own[2], struct gmod_place *place)
{
	(void)own;
	if (!is_large(q) || !gmod_mapped_takes_more(q->context))
		return GMOD_DECLINES;
	if (gmod_mapped_alloc(q->context, q->size, place) == CUDA_SUCCESS)
		return GMOD_ACCEPTS;
	return gmod_device_has(q->size) ? GMOD_FAILS : GMOD_LEAVES_NATIVE;
}

static CUresult free_large(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);

	return gmod_mapped_free(d->context, r->bounds.size, d->raw);
}

static void drop_large(struct gmod_record *r)
{
	gmod_mapped_drop(r->bounds.size, gmod_record_details(r)->raw);
}

const struct gmod_backend gmod_backend_mapped = {
    .name = "mapped",
    .says = "unified, large buffers mapped",
    .alloc = alloc_large,
    .free = free_large,
    .drop = drop_large,
    .works = gmod_mapped_works,
    .open = gmod_mapped_open,
};

/* ---- small buffers ---- */

enum { SHARE = 256, CACHE = 256 /* as option small_mapped allows at most */ };

/*
 * What a context has. Cached memory goes by where its reservation begins, in any order. It is in one place at a time:
 * with a record, or cached; both ways are single exchanges, so a signal handler that jumps away loses one at the most.
 */
static struct small {
	_Atomic unsigned live, count;
	_Atomic uint64_t cached[CACHE]; /* 0: none */
} smalls[GMOD_CONTEXTS];

static struct small *of(const struct gmod_context *c)
{
	return &smalls[gmod_context_index(c)];
}

static unsigned count_cached(const struct gmod_context *c)
{
	return atomic_load_explicit(&of(c)->count, memory_order_relaxed);
}

/* 0: there is none. */
static uint64_t take(const struct gmod_context *c)
{
	struct small *s = of(c);

	for (unsigned i = 0; count_cached(c) && i < CACHE; i++) {
		uint64_t raw = atomic_exchange_explicit(&s->cached[i], 0, memory_order_acquire);

		if (!raw)
			continue;
		atomic_fetch_sub_explicit(&s->count, 1, memory_order_relaxed);
		return raw;
	}
	return 0;
}

/* The context is not about to go: the caller is inside. false: there is no room. */
static bool put(const struct gmod_context *c, uint64_t raw)
{
	struct small *s = of(c);

	for (unsigned i = 0; i < CACHE; i++) {
		uint64_t none = 0;

		/* Counted first: whoever takes it subtracts. */
		atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed);
		if (atomic_compare_exchange_strong_explicit(&s->cached[i], &none, raw, memory_order_release,
							    memory_order_relaxed))
			return true;
		atomic_fetch_sub_explicit(&s->count, 1, memory_order_relaxed);
	}
	return false;
}

/* In a context of the device: how many there may be. */
static unsigned ask_for_max(int device)
{
	uint64_t wanted = gmod_options()->small_mapped, allowed;
	size_t available = 0, total = 0;

	(void)device;
	if (!wanted)
		return 0;
	if (NEXT(cuMemGetInfo_v2)(&available, &total) != CUDA_SUCCESS)
		gmod_degraded("cuMemGetInfo");
	allowed = total / SHARE / GMOD_LARGE;
	return (unsigned)(wanted < allowed ? wanted : allowed);
}

static bool may_be_one_more(const struct gmod_context *c)
{
	static struct gmod_asked asked;

	return atomic_load_explicit(&of(c)->live, memory_order_relaxed) < gmod_ask_once(&asked, c->device, ask_for_max);
}

/* Each takes off what it put on, also where its context has gone meanwhile. */
static void count(const struct gmod_context *c, int by)
{
	atomic_fetch_add_explicit(&of(c)->live, (unsigned)by, memory_order_relaxed);
}

/* The sum of what is said of each that has cached anything on the device. */
static uint64_t sum_of_cachers(int device, uint64_t (*what)(struct gmod_context *))
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct gmod_context *c = gmod_context_at(i);

		if (!count_cached(c) || !gmod_context_use_begin(c))
			continue;
		if (c->device == device)
			sum += what(c);
		gmod_context_use_end(c);
	}
	return sum;
}

static uint64_t bytes_cached(struct gmod_context *c)
{
	return count_cached(c) * (uint64_t)GMOD_LARGE;
}

static int64_t cached(const struct gmod_context *c)
{
	return (int64_t)sum_of_cachers(c->device, bytes_cached);
}

static uint64_t give_back_of(struct gmod_context *c)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	uint64_t given = 0, raw;

	for (; (raw = take(c)); given++) {
		if (gmod_mapped_free(c, 1, raw) == CUDA_SUCCESS)
			continue;
		/* The context is broken: it stays until that goes. */
		put(c, raw);
		break;
	}
	gmod_relaxed_end(mode);
	return given;
}

static bool give_back(const struct gmod_context *c)
{
	return sum_of_cachers(c->device, give_back_of) > 0;
}

static void context_gone(struct gmod_context *c)
{
	uint64_t raw;

	while ((raw = take(c)))
		gmod_mapped_drop(1, raw);
}

/* From inside: a context that is about to go waits, and nothing is put where nobody would look for it any more. */
static bool cache(struct gmod_context *c, uint64_t raw)
{
	bool done;

	if (!gmod_context_use_begin(c))
		return false;
	done = put(c, raw);
	gmod_context_use_end(c);
	return done;
}

/*
 * Where memory is short nothing is cached, and small buffers are no larger than they have to be. Where something is
 * cached, the rest has been asked before.
 */
static bool has_room(const struct gmod_context *c)
{
	if (count_cached(c))
		return may_be_one_more(c);
	return gmod_mapped_takes_more(c) && may_be_one_more(c) && gmod_device_has(GMOD_LARGE + GMOD_MANAGED_SPARE);
}

static CUresult put_away(struct gmod_context *c, uint64_t raw)
{
	return cache(c, raw) ? CUDA_SUCCESS : gmod_mapped_free(c, 1, raw);
}

static void put_away_unused(struct gmod_context *c, uint64_t raw)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();

	if (put_away(c, raw) != CUDA_SUCCESS)
		gmod_degraded("mapped memory that was not used");
	gmod_relaxed_end(mode);
}

/*
 * Without a twin, which is made as the program's own call would be answered and says what the program may have, the
 * memory waits for the next buffer. The twin is the record's first word.
 */
static enum gmod_answer alloc_small(struct gmod_request *q, uint64_t own[2], struct gmod_place *place)
{
	CUdeviceptr twin = 0;
	uint64_t raw;

	if (q->memory != GMOD_MEM_DEVICE || is_large(q) || !has_room(q->context))
		return GMOD_DECLINES;
	raw = take(q->context);
	if (raw)
		gmod_layout_mapped_at(q->size, gmod_page_size(), raw, place);
	else if (gmod_mapped_alloc(q->context, q->size, place) != CUDA_SUCCESS)
		return GMOD_FAILS;
	if (NEXT(cuMemAlloc_v2)(&twin, 1) != CUDA_SUCCESS) {
		put_away_unused(q->context, place->raw);
		return GMOD_FAILS;
	}
	own[0] = twin;
	count(q->context, 1);
	return GMOD_ACCEPTS;
}

static CUresult free_twin(struct gmod_record *r)
{
	uint64_t *twin = &gmod_record_details(r)->own[0];
	CUresult result = *twin ? NEXT(cuMemFree_v2)(*twin) : CUDA_SUCCESS;

	if (result == CUDA_SUCCESS)
		*twin = 0;
	return result;
}

static CUresult free_small(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);
	CUresult result = free_twin(r);

	if (result == CUDA_SUCCESS)
		result = put_away(d->context, d->raw);
	if (result == CUDA_SUCCESS)
		count(d->context, -1);
	return result;
}

static void drop_small(struct gmod_record *r)
{
	drop_large(r);
	count(gmod_record_details(r)->context, -1);
}

const struct gmod_backend gmod_backend_small = {
    .name = "mapped",
    .alloc = alloc_small,
    .begin_free = free_twin,
    .free = free_small,
    .drop = drop_small,
    .open = gmod_mapped_open,
    .uncounted = cached,
    .give_back = give_back,
    .context_gone = context_gone,
};
