#include "lib/buffers/buffer.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/buffers/accounts.h"
#include "lib/buffers/block.h"
#include "lib/buffers/buffer_parts.h"
#include "lib/buffers/mapped.h"
#include "lib/buffers/misuse.h"
#include "lib/base/log.h"
#include "lib/base/phase.h"
#include "lib/buffers/small.h"
#include "lib/base/facts.h"
#include "lib/base/counters.h"
#include "lib/buffers/unified.h"
#include "lib/base/unwind.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/sweep.h"
#include "monitor/watch/verify.h"

static _Atomic uint64_t next_serial;

static CUresult alloc_native(const struct gmod_request *q, uint64_t *out)
{
	CUresult r = gmod_block_alloc_native(q, out);

	if (q->memory == GMOD_MEM_DEVICE && gmod_small_made_room(r))
		r = gmod_block_alloc_native(q, out);
	if (r == CUDA_SUCCESS && q->memory == GMOD_MEM_DEVICE) {
		bool green = gmod_on() && gmod_current_owner().green;

		gmod_count(green ? &gmod_counters.unsupported : &gmod_counters.fallback, 1);
		gmod_count(green ? &gmod_counters.unsupported_bytes : &gmod_counters.fallback_bytes, q->size);
	}
	return r;
}

static bool sampled_out(void)
{
	static _Atomic uint64_t turn;
	unsigned rate = gmod_options()->sample_rate;

	return rate > 1 && atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % rate != 0;
}

static void fill_details(struct gmod_record *r, const struct gmod_plan *plan, const struct gmod_place *p, uint64_t twin)
{
	const struct gmod_request *q = plan->request;
	struct gmod_context *c = plan->context;
	struct gmod_details *d = gmod_record_details(r);
	const uint64_t *key = gmod_hot.key;

	d->raw = p->raw;
	d->total = plan->layout.total;
	d->mapped = plan->mapped;
	d->twin = twin;
	d->host_flags = q->memory == GMOD_MEM_HOST ? q->flags : 0;
	d->serial = atomic_fetch_add_explicit(&next_serial, 1, memory_order_relaxed) + 1;
	d->allocated_ns = gmod_clock_ns(CLOCK_REALTIME);
	d->allocated_ticks = gmod_ticks();
	d->context = c;
	d->tid = syscall(SYS_gettid);
	d->device = c ? c->device : 0;
	d->memory = q->memory;
	d->backend = q->memory == GMOD_MEM_HOST ? "pinned" : plan->mapped ? "mapped" : "unified";
	gmod_canary_init(&d->canary[GMOD_HEAD], key, p->user, q->size, d->serial, GMOD_HEAD, p->zone_head);
	gmod_canary_init(&d->canary[GMOD_TAIL], key, p->user, q->size, d->serial, GMOD_TAIL, p->user_end);
	gmod_unwind(&d->stack, gmod_options()->stack_depth);
}

/* The words next to the user's bytes that the CPU may look at in every sweep. */
static void fill_lines(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);
	const struct gmod_bounds *b = &r->bounds;
	struct gmod_lines *lines = gmod_record_lines(r);

	gmod_canary_bytes(&d->canary[GMOD_HEAD], b->head_to - GMOD_LINE, b->head_to, lines->head);
	gmod_canary_bytes(&d->canary[GMOD_TAIL], b->tail_from, b->tail_from + GMOD_LINE, lines->tail);
}

/* Zones, and slack where the CPU may write it. */
static void write_canaries(const struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);
	const struct gmod_bounds *b = &r->bounds;

	gmod_canary_write(&d->canary[GMOD_HEAD], b->head_from, d->mapped ? b->head_to : b->user);
	gmod_canary_write(&d->canary[GMOD_TAIL], d->mapped ? b->tail_from : b->user + b->size, b->tail_to);
}

static void count_guarded(const struct gmod_request *q)
{
	bool host = q->memory == GMOD_MEM_HOST;

	gmod_count(host ? &gmod_counters.host : &gmod_counters.guarded, 1);
	gmod_count(host ? &gmod_counters.host_bytes : &gmod_counters.guarded_bytes, q->size);
}

/* Canaries in place, record LIVE. false: the block is not guarded, and nothing refers to it. */
static bool arm(struct gmod_record *r, const struct gmod_plan *plan, const struct gmod_place *p)
{
	struct gmod_context *c = plan->context;
	bool managed = plan->request->memory != GMOD_MEM_HOST && !plan->mapped;

	if (plan->mapped && !gmod_mapped_arm_slack(c, r)) {
		gmod_degraded("cuMemcpyHtoDAsync");
		return false;
	}
	if (!gmod_index_insert(p->zone_head, p->end, r->position)) {
		gmod_degraded("index");
		return false;
	}
	if (managed)
		gmod_unified_place_zones(c, p);
	write_canaries(r);
	fill_lines(r);
	if (managed && plan->request->memory == GMOD_MEM_DEVICE)
		gmod_record_details(r)->unplaced = gmod_unified_place_body(c, p);
	/* Before the record is LIVE: the context's departure takes off what is on. */
	if (plan->small)
		gmod_small_count(c, 1);
	gmod_record_publish(r);
	if (plan->mapped)
		gmod_mapped_let_peers_in(r);
	count_guarded(plan->request);
	return true;
}

/*
 * The guarded allocation itself. Whatever of ours fails, the program gets what the native call gives: a driver error
 * for our larger request says nothing about its own.
 */
static CUresult try_guarded(struct gmod_plan *plan, uint64_t *out)
{
	const struct gmod_request *q = plan->request;
	struct gmod_record *r = gmod_record_claim();
	struct gmod_place p;
	struct gmod_block block;

	if (!r) {
		gmod_degraded("registry");
		return alloc_native(q, out);
	}
	if (gmod_block_alloc(plan, &block) != CUDA_SUCCESS) {
		gmod_record_abandon(r);
		return alloc_native(q, out);
	}
	gmod_layout_place(&plan->layout, q->size, block.raw, &p);
	fill_details(r, plan, &p, block.twin);
	gmod_record_set_bounds(r, &(struct gmod_bounds){p.user, q->size, p.zone_head, p.body, p.zone_tail, p.end});
	if (!arm(r, plan, &p)) {
		gmod_block_free(r);
		gmod_record_abandon(r);
		return alloc_native(q, out);
	}
	*out = p.user;
	return CUDA_SUCCESS;
}

static CUresult alloc_guarded(struct gmod_plan *plan, uint64_t *out)
{
	struct gmod_busy busy = gmod_busy_begin();
	CUresult r = busy.on ? try_guarded(plan, out) : alloc_native(plan->request, out);

	gmod_busy_end(busy);
	return r;
}

static const char *backend_of(const struct gmod_context *c)
{
	if (!gmod_unified_is_possible(c->device))
		return "native, device buffers are not guarded";
	return gmod_mapped_works(c) ? "unified, large buffers mapped" : "unified, all buffers managed";
}

/* A device has as many contexts as the program likes. */
static void say_backend(const struct gmod_context *c)
{
	static _Atomic uint64_t said; /* a bit for each device */
	uint64_t bit = UINT64_C(1) << (c->device & 63);

	if (atomic_load_explicit(&said, memory_order_relaxed) & bit)
		return;
	if (!(atomic_fetch_or_explicit(&said, bit, memory_order_relaxed) & bit))
		gmod_log_note(2, "device %d: backend %s", c->device, backend_of(c));
}

/* false: the native call serves it. */
static bool make_plan(const struct gmod_request *q, struct gmod_plan *plan)
{
	size_t page = gmod_page_size();
	struct gmod_context *c;

	if (sampled_out())
		return false;
	c = gmod_context_current();
	if (c)
		say_backend(c);
	if (!c || (q->memory != GMOD_MEM_HOST && !gmod_unified_is_possible(c->device)))
		return false;
	*plan = (struct gmod_plan){.request = q, .context = c};
	if (q->memory == GMOD_MEM_HOST)
		return gmod_layout_pinned(q->size, page, &plan->layout);
	if (q->memory == GMOD_MEM_DEVICE && gmod_mapped_works(c) && q->size >= GMOD_LARGE) {
		plan->mapped = gmod_mapped_has_room();
	} else if (q->memory == GMOD_MEM_DEVICE && gmod_mapped_works(c) && gmod_small_has_room(c)) {
		plan->kept = gmod_small_take(c);
		plan->mapped = plan->small = plan->kept || gmod_mapped_has_room();
	}
	return plan->mapped ? gmod_layout_mapped(q->size, page, &plan->layout)
			    : gmod_layout_device(q->size, page, &plan->layout);
}

/* A small buffer after all as a managed one. */
static void plan_managed(struct gmod_plan *plan)
{
	plan->mapped = plan->small = false;
	gmod_layout_device(plan->request->size, gmod_page_size(), &plan->layout);
}

static size_t footprint(const struct gmod_plan *plan)
{
	return plan->small ? GMOD_LARGE : plan->request->size;
}

static enum gmod_fit reserve(const struct gmod_plan *plan)
{
	return gmod_accounts_reserve(plan->context, footprint(plan),
				    plan->mapped && !plan->small ? 0 : GMOD_MANAGED_SPARE);
}

/* Where it is close, nothing is kept for later, and small buffers are no larger than they have to be. */
static enum gmod_fit reserve_with_less(struct gmod_plan *plan, enum gmod_fit fit)
{
	if (fit != GMOD_FITS && gmod_small_give_back(plan->context)) {
		gmod_accounts_unreserve(plan->context, footprint(plan));
		fit = reserve(plan);
	}
	if (fit != GMOD_FITS && plan->small) {
		gmod_accounts_unreserve(plan->context, footprint(plan));
		plan_managed(plan);
		fit = reserve(plan);
	}
	return fit;
}

/* What is on the device already: no new memory is asked for. */
static CUresult alloc_kept(struct gmod_plan *plan, uint64_t *out)
{
	CUresult r = alloc_guarded(plan, out);

	if (plan->kept)
		gmod_small_unused(plan->context, plan->kept);
	return r;
}

static CUresult alloc_device(struct gmod_plan *plan, uint64_t *out)
{
	enum gmod_fit fit = reserve_with_less(plan, reserve(plan));
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	if (fit == GMOD_FITS)
		r = alloc_guarded(plan, out);
	else if (fit == GMOD_FITS_NATIVELY)
		r = alloc_native(plan->request, out);
	gmod_accounts_unreserve(plan->context, footprint(plan));
	return r;
}

static CUresult allocate(const struct gmod_request *q, uint64_t *out)
{
	struct gmod_plan plan;

	if (!gmod_on() || !make_plan(q, &plan))
		return alloc_native(q, out);
	if (q->memory != GMOD_MEM_DEVICE)
		return alloc_guarded(&plan, out);
	return plan.kept ? alloc_kept(&plan, out) : alloc_device(&plan, out);
}

CUresult gmod_buffer_alloc(const struct gmod_request *q, uint64_t *out)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	CUresult r = allocate(q, out);

	gmod_cancel_end(cancel);
	return r;
}

/*
 * Wait for all work of the current context, which is the buffer's, as the native free does: then the canaries are
 * final. Freeing a tiny buffer in relaxed capture mode waits so, and disturbs no capture (measured: beside a 50 ms
 * kernel it takes 50 ms), where a context synchronise would kill one. True when that work is done.
 *
 * A first tiny buffer stays with the context: the driver takes 2 MiB from the device for it, and while it has them the
 * next one comes and goes in 2 us; without, the device memory does too, in 107 us (measured on an H200, driver 580).
 */
static bool wait_for_context(const struct gmod_context *c)
{
	static _Atomic unsigned holds[GMOD_CONTEXTS]; /* one: for which of an entry's contexts, counted from 1 */
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	CUdeviceptr tiny = 0;
	bool waited;

	if (c) {
		_Atomic unsigned *mine = &holds[gmod_context_index(c)];
		unsigned life = atomic_load_explicit(&c->ends, memory_order_relaxed) + 1;

		if (atomic_exchange_explicit(mine, life, memory_order_relaxed) != life &&
		    NEXT(cuMemAlloc_v2)(&tiny, 1) != CUDA_SUCCESS) {
			gmod_degraded("cuMemAlloc before a free");
			atomic_store_explicit(mine, 0, memory_order_relaxed);
		}
	}
	if (NEXT(cuMemAlloc_v2)(&tiny, 1) != CUDA_SUCCESS) {
		gmod_degraded("cuMemAlloc before a free");
		if (NEXT(cuMemAllocManaged)(&tiny, 1, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS)
			tiny = 0;
	}
	waited = tiny && NEXT(cuMemFree_v2)(tiny) == CUDA_SUCCESS;
	if (!waited)
		gmod_degraded("waiting before a free");
	gmod_relaxed_end(mode);
	return waited;
}

void gmod_buffer_index_again(const struct gmod_record *r)
{
	/* The tables are there since the first time: this cannot fail. */
	gmod_index_insert(r->bounds.head_from, r->bounds.tail_to, r->position);
}

static unsigned ends_of(const struct gmod_record *r)
{
	const struct gmod_context *c = gmod_record_details(r)->context;

	return c ? atomic_load_explicit(&c->ends, memory_order_acquire) : 0;
}

static void settle_accounts(const struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);
	struct gmod_context *c = d->context;

	if (c && gmod_block_is_small(r))
		gmod_small_count(c, -1);
	if (!c || d->memory != GMOD_MEM_DEVICE || d->mapped)
		return;
	gmod_accounts_freed(c, r->bounds.size, d->unplaced);
}

void gmod_buffer_lose(struct gmod_record *r)
{
	if (gmod_record_details(r)->mapped)
		gmod_block_drop(r);
	settle_accounts(r);
	gmod_record_retire(r);
}

/*
 * A freed buffer has left the index before its pages go back: the driver may hand them out inside the call. ends: how
 * many contexts its context's entry had seen end when it was still LIVE.
 */
static CUresult release(struct gmod_record *r, unsigned ends)
{
	CUresult result;

	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	result = gmod_block_free(r);
	if (result != CUDA_SUCCESS && ends != ends_of(r)) {
		gmod_buffer_lose(r);
		return result;
	}
	if (result != CUDA_SUCCESS) {
		gmod_buffer_index_again(r);
		gmod_record_reinstate(r);
		return result;
	}
	settle_accounts(r);
	gmod_misuse_remember_free(r);
	gmod_record_retire(r);
	return result;
}

void gmod_buffer_verify(struct gmod_record *r, enum gmod_verify what, const struct gmod_slack *slack,
			struct gmod_moment swept)
{
	struct gmod_busy busy = gmod_busy_begin();

	if (busy.on)
		gmod_verify_released(r, what, slack, swept);
	gmod_busy_end(busy);
}

/* All of a mapped buffer's canaries. Without its slack, if that cannot be had, the rest. */
static void verify_mapped(struct gmod_record *r, struct gmod_moment swept)
{
	struct gmod_slack slack;
	CUstreamCaptureMode mode;
	bool read;

	if (!gmod_has_slack(&r->bounds) || !gmod_on()) {
		gmod_buffer_verify(r, GMOD_VERIFY_VISIBLE, NULL, swept);
		return;
	}
	mode = gmod_relaxed_begin();
	read = gmod_mapped_read_slack(r, &slack);
	gmod_relaxed_end(mode);
	if (!read)
		gmod_degraded("cuMemcpyDtoHAsync");
	gmod_buffer_verify(r, read ? GMOD_VERIFY_COPIED : GMOD_VERIFY_VISIBLE, &slack, swept);
}

static uint64_t context_number(const struct gmod_details *d)
{
	const struct gmod_context *c = atomic_load_explicit(&d->context, memory_order_relaxed);

	return c ? (uint64_t)(uintptr_t)atomic_load_explicit(&c->handle, memory_order_relaxed) : 0;
}

/* Ours to release. Taken by its context's departure it may come back, time and again: then we find the same buffer. */
static bool begin_release(const struct gmod_found *found)
{
	struct gmod_found again = *found;

	do {
		if (gmod_record_begin_release(again.record, again.word))
			return true;
		again = gmod_index_find(found->bounds.user);
	} while (again.record == found->record && again.word == found->word);
	return false;
}

static CUresult free_guarded(const struct gmod_found *found, const char *entry_point)
{
	struct gmod_record *r = found->record;
	const struct gmod_details *d = gmod_record_details(r);
	uint64_t began = gmod_ticks(), context = context_number(d);
	struct gmod_moment swept = gmod_sweep_latest();
	unsigned ends = ends_of(r);
	bool visited, is_current;
	CUresult result;

	if (!begin_release(found)) {
		gmod_misuse_free(found->bounds.user, entry_point, CUDA_ERROR_INVALID_VALUE);
		return CUDA_ERROR_INVALID_VALUE;
	}
	result = gmod_small_free_twin(r);
	if (result != CUDA_SUCCESS) {
		gmod_record_reinstate(r);
		return result;
	}
	visited = gmod_context_visit_begin(d->context);
	is_current = context && gmod_context_is_current(d->context);
	/* Before the verdict: what is said of the suspects is how they are after the wait. */
	if (gmod_on() && (gmod_block_is_small(r) || wait_for_context(d->context)) && is_current)
		gmod_prove_context(context, began);
	if (d->mapped)
		verify_mapped(r, swept);
	else
		gmod_buffer_verify(r, GMOD_VERIFY_ALL, NULL, swept);
	gmod_context_visit_end(visited);
	result = release(r, ends);
	if (result == CUDA_SUCCESS && is_current)
		gmod_prove_context(context, began);
	return result;
}

/* A buffer that stayed RELEASING would never be looked at again. */
CUresult gmod_buffer_free(const struct gmod_found *found, const char *entry_point)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	CUresult r = free_guarded(found, entry_point);

	gmod_cancel_end(cancel);
	return r;
}
