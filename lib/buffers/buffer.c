#include "lib/buffers/buffer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "lib/buffers/confirm.h"
#include "lib/buffers/fence.h"
#include "lib/buffers/look.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/peers.h"
#include "lib/buffers/quarantine.h"
#include "lib/context/wait.h"
#include "lib/faults/keeper.h"
#include "lib/base/log.h"
#include "lib/base/phase.h"
#include "lib/base/facts.h"
#include "lib/base/counters.h"
#include "lib/base/unwind.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/verify.h"
#include "monitor/watch/swept.h"

static _Atomic uint64_t next_serial;

/* ---- allocations ---- */

static CUresult call_native(const struct gmod_request *q, uint64_t *out)
{
	CUdeviceptr device = *out;
	void *host = NULL;
	CUresult r;

	if (q->memory == GMOD_MEM_MANAGED)
		r = NEXT(cuMemAllocManaged)(&device, q->size, q->flags);
	else if (q->memory == GMOD_MEM_DEVICE)
		r = NEXT(cuMemAlloc_v2)(&device, q->size);
	else if (q->plain_host)
		r = NEXT(cuMemAllocHost_v2)(&host, q->size);
	else
		r = NEXT(cuMemHostAlloc)(&host, q->size, q->flags);
	*out = q->memory == GMOD_MEM_HOST ? (uint64_t)(uintptr_t)host : (uint64_t)device;
	return r;
}

/*
 * The driver hands this address out: a buffer that is still known there has been freed past GMOD, by a library that was
 * opened with RTLD_DEEPBIND, say, and where its canaries were there is another buffer's memory now.
 */
static void forget_what_was_at(uint64_t address)
{
	struct gmod_found old = gmod_index_find_now(address);

	if (__builtin_expect(!old.record, 1) || !gmod_record_begin_release(old.record, old.word))
		return;
	gmod_degraded("a free that passed GMOD by");
	gmod_index_remove(old.bounds.head_from, old.bounds.tail_to, old.record->position);
	gmod_buffer_lose(old.record);
}

static CUresult alloc_native(const struct gmod_request *q, uint64_t *out)
{
	CUresult r = call_native(q, out);

	if (r == CUDA_SUCCESS && gmod_on())
		forget_what_was_at(*out);
	if (r == CUDA_SUCCESS && q->memory != GMOD_MEM_HOST) {
		bool green = gmod_on() && gmod_current_owner().green;

		gmod_count(green ? &gmod_counters.unsupported : &gmod_counters.fallback, 1);
		gmod_count(&gmod_counters.capped, q->capped);
		gmod_count(green ? &gmod_counters.unsupported_bytes : &gmod_counters.fallback_bytes, q->size);
	}
	return r;
}

void gmod_buffer_describe(struct gmod_record *r, const struct gmod_request *q, const struct gmod_place *p)
{
	struct gmod_details *d = gmod_record_details(r);

	d->backend_name = d->backend->name;
	d->at_rest = false;
	d->raw = p->raw;
	d->own = q->own;
	d->host_flags = q->memory == GMOD_MEM_HOST ? q->flags : 0;
	d->serial = atomic_fetch_add_explicit(&next_serial, 1, memory_order_relaxed) + 1;
	d->allocated_ns = gmod_clock_ns(CLOCK_REALTIME);
	d->allocated_ticks = gmod_ticks();
	d->context = q->context;
	d->tid = syscall(SYS_gettid);
	d->device = q->context->device;
	d->memory = q->memory;
	gmod_record_set_bounds(r, &(struct gmod_bounds){p->user, q->size, p->zone_head, p->body, p->zone_tail, p->end});
}

/*
 * Canaries in place, record LIVE. false: the buffer is not guarded, and nothing refers to it. The stack is walked while
 * the canaries are on their way.
 */
static bool arm(struct gmod_record *r, struct gmod_request *q)
{
	struct gmod_details *d = gmod_record_details(r);
	struct gmod_slack *sent;
	bool ok;

	atomic_store_explicit(&d->quiet_until, gmod_activity_done(), memory_order_relaxed);
	ok = gmod_slack_write(r, &sent);
	gmod_unwind(&d->stack, gmod_options()->stack_depth);
	q->late = !gmod_slack_arrives(r, sent);
	if (!ok)
		return false;
	if (d->backend->arm)
		d->backend->arm(q, r);
	if (!gmod_index_publish(r)) {
		gmod_degraded("index");
		return false;
	}
	if (d->backend->open)
		gmod_peers_published(r);
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.confirm, memory_order_relaxed), 0))
		gmod_confirm_met(r);
	return true;
}

static void disarm(const struct gmod_record *r)
{
	const struct gmod_backend *b = gmod_record_details(r)->backend;

	if (b->disarm)
		b->disarm(r);
}

static bool is_asked(const struct gmod_backend *b)
{
	return !b->choices || b->choices >> gmod_options()->backend & 1;
}

static const char *backend_of(const struct gmod_context *c)
{
	for (size_t i = 0; gmod_backends[i]; i++)
		if (is_asked(gmod_backends[i]) && gmod_backends[i]->says && gmod_backends[i]->works(c->device))
			return gmod_backends[i]->says;
	return "native, device buffers are not guarded";
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

/* The first that does not decline; the native call serves what all do. */
static enum gmod_answer ask(struct gmod_request *q, struct gmod_details *d, struct gmod_place *p)
{
	enum gmod_answer answer = GMOD_DECLINES;

	for (size_t i = 0; gmod_backends[i] && answer == GMOD_DECLINES; i++) {
		if (!is_asked(gmod_backends[i]))
			continue;
		d->backend = gmod_backends[i];
		answer = d->backend->alloc(q, p);
	}
	return answer;
}

static enum gmod_answer guard(struct gmod_request *q, uint64_t *out)
{
	struct gmod_record *r = gmod_record_claim();
	bool host = q->memory == GMOD_MEM_HOST;
	enum gmod_answer answer;
	struct gmod_place p;

	if (!r) {
		gmod_degraded("registry");
		return GMOD_FAILS;
	}
	answer = ask(q, gmod_record_details(r), &p);
	if (answer == GMOD_ACCEPTS) {
		forget_what_was_at(p.user);
		gmod_proof_remember_new();
		gmod_buffer_describe(r, q, &p);
		if (arm(r, q)) {
			gmod_count(host ? &gmod_counters.host : &gmod_counters.guarded, 1);
			gmod_count(host ? &gmod_counters.host_bytes : &gmod_counters.guarded_bytes, q->size);
			gmod_count(&gmod_counters.late, q->late);
			*out = p.user;
			return answer;
		}
		disarm(r);
		gmod_record_details(r)->backend->free(r);
		answer = GMOD_FAILS;
	}
	gmod_record_abandon(r);
	return answer;
}

/*
 * Whatever of ours fails, the program gets what the native call gives: a driver error for our larger request says
 * nothing about its own.
 */
static CUresult allocate(struct gmod_request *q, uint64_t *out)
{
	static _Atomic uint64_t turn;
	unsigned rate = gmod_options()->sample_rate;
	enum gmod_answer answer = GMOD_FAILS;
	struct gmod_busy busy;

	q->late = q->capped = false;
	q->own = 0;
	q->context = NULL;
	if (gmod_on() && !atomic_load_explicit(&gmod_hot.suspended, memory_order_relaxed) &&
	    (rate <= 1 || atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % rate == 0))
		q->context = gmod_context_current();
	if (!q->context)
		return alloc_native(q, out);
	say_backend(q->context);
	/* What probes fill (lib/context/fault.h): later it might have to wait for something. */
	if (atomic_load_explicit(&gmod_hot.keeper, memory_order_relaxed) == GMOD_KEEPER_READY && q->context->stream)
		gmod_context_buffer(q->context, &q->context->filled);
	if (q->memory == GMOD_MEM_DEVICE && gmod_slack_is_held_up(q->context))
		return alloc_native(q, out);
	busy = gmod_busy_begin();
	if (busy.on)
		answer = guard(q, out);
	gmod_busy_end(busy);
	return answer == GMOD_ACCEPTS ? CUDA_SUCCESS : alloc_native(q, out);
}

CUresult gmod_buffer_alloc(const struct gmod_request *request, uint64_t *out)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	struct gmod_request q = *request;
	CUresult r = allocate(&q, out);

	if (r == CUDA_ERROR_OUT_OF_MEMORY && q.context && gmod_buffer_let_go(q.context, 0))
		r = allocate(&q, out);
	gmod_cancel_end(cancel);
	return r;
}

/* ---- frees ---- */

static unsigned ends_of(const struct gmod_record *r)
{
	const struct gmod_context *c = gmod_record_details(r)->context;

	return c ? gmod_context_life(c) : 0;
}

void gmod_buffer_lose(struct gmod_record *r)
{
	const struct gmod_backend *b = gmod_record_details(r)->backend;

	disarm(r);
	if (b->lose)
		b->lose(r);
	gmod_record_retire(r);
}

/*
 * The last look at all canaries, once the device is done: without slack that cannot be had, or is as it was written.
 * While that is on its way the freeing thread's stack is walked, which has been done for what was kept back.
 */
static void look(struct gmod_record *r, struct gmod_moment swept, bool quiet)
{
	struct gmod_slack *slack = !quiet && gmod_on() && gmod_slack_is_far(r) ? gmod_slack_ask(r) : NULL;
	enum gmod_verify what = gmod_record_details(r)->backend->sees_body ? GMOD_VERIFY_ALL : GMOD_VERIFY_VISIBLE;

	if (!gmod_record_details(r)->kept_back)
		gmod_misuse_remember_free(r);
	if (slack && gmod_slack_came(r, slack))
		what = GMOD_VERIFY_COPIED;
	gmod_verify_released(r, what, slack, swept);
	gmod_slack_done(r, slack);
}

/* ---- the quarantine: RELEASING, out of the index, and LIVE again as a buffer of which all is canary ---- */

static void let_go(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);
	bool visited;

	disarm(r);
	visited = gmod_context_visit_begin(d->context);
	look(r, gmod_sweep_latest(), !gmod_context_wait(d->context));
	gmod_context_visit_end(visited);
	if (d->backend->free(r) == CUDA_SUCCESS)
		gmod_record_retire(r);
	else
		gmod_buffer_lose(r);
}

bool gmod_buffer_let_go(const struct gmod_context *c, uint64_t most)
{
	struct gmod_found oldest;
	bool any = false;

	while (gmod_on() && gmod_quarantine_take(c, most, &oldest))
		if (gmod_record_begin_release(oldest.record, oldest.word)) {
			let_go(oldest.record);
			any = true;
		}
	return (!most && gmod_fence_trim(c->device)) || any;
}

/* The facts of the buffer that it was are remembered. As much is filled as is looked at. */
static bool become_canary(struct gmod_record *r)
{
	struct gmod_details *d = gmod_record_details(r);
	uint64_t from = r->bounds.user, all = r->bounds.tail_to - from;
	uint64_t end = from + (all < GMOD_TAIL_SLACK ? all : GMOD_TAIL_SLACK);
	struct gmod_request q = {.context = d->context};
	struct gmod_moment now;
	struct gmod_slack *sent;
	bool ok;

	gmod_proof_remember_new();
	now = gmod_now();
	gmod_record_renew(r, &(struct gmod_bounds){from, 0, from, from, end, end});
	d->kept_back = true;
	d->serial = atomic_fetch_add_explicit(&next_serial, 1, memory_order_relaxed) + 1;
	d->allocated_ns = now.ns;
	d->allocated_ticks = now.ticks;
	d->reported = 0;
	ok = gmod_slack_write(r, &sent);
	q.late = !gmod_slack_arrives(r, sent);
	if (!ok)
		return false;
	d->backend->arm(&q, r);
	gmod_record_publish(r);
	return true;
}

/* false: it is to be freed. */
static bool keep_back(struct gmod_record *r)
{
	uint64_t most = (uint64_t)gmod_options()->quarantine_mb << 20, bytes = r->bounds.tail_to - r->bounds.user;
	struct gmod_found kept = {.record = r, .bounds = {.user = r->bounds.user}};
	const struct gmod_context *c = gmod_record_details(r)->context;

	if (bytes > most || !gmod_on() || !gmod_record_details(r)->backend->keeps_back)
		return false;
	if (!become_canary(r)) {
		gmod_record_details(r)->backend->free(r);
		gmod_record_abandon(r);
		return true;
	}
	kept.word = gmod_record_live(r);
	if (!gmod_quarantine_put(&kept, bytes) && gmod_record_begin_release(r, kept.word))
		let_go(r);
	gmod_buffer_let_go(c, most);
	return true;
}

/* Has another thread freed it meanwhile? Natively, since it was in no index. What goes with its context nobody has. */
static bool is_freed_twice(const struct gmod_record *r, unsigned ends, CUresult result)
{
	const struct gmod_context *c = atomic_load_explicit(&gmod_record_details(r)->context, memory_order_relaxed);

	return result == CUDA_ERROR_INVALID_VALUE && ends == ends_of(r) && c && gmod_may_call(c);
}

/*
 * A freed buffer has left the index before its pages go back: the driver may hand them out inside the call. Who asks
 * whose the bytes in front of it are meanwhile finds it among those that are freed. ends: how many contexts its
 * context's entry had seen end when it was still LIVE. rests: all work that is known of is done; waited: all work is.
 */
static CUresult release(struct gmod_record *r, unsigned ends, bool rests, bool waited, const char *entry_point)
{
	static const struct gmod_found none;
	uint64_t address = r->bounds.user;
	CUresult result;

	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	if ((rests || waited) && keep_back(r))
		return CUDA_SUCCESS;
	gmod_record_details(r)->at_rest = waited;
	result = gmod_record_details(r)->backend->free(r);
	if (result == CUDA_SUCCESS) {
		gmod_record_retire(r);
	} else if (is_freed_twice(r, ends, result)) {
		gmod_buffer_lose(r);
		gmod_misuse_free(address, &none, entry_point, result);
	} else if (ends != ends_of(r)) {
		gmod_buffer_lose(r);
	} else {
		gmod_index_reinstate(r);
	}
	return result;
}

CUcontext gmod_buffer_context(const struct gmod_record *r)
{
	const struct gmod_context *c = atomic_load_explicit(&gmod_record_details(r)->context, memory_order_relaxed);

	return c ? atomic_load_explicit(&c->handle, memory_order_relaxed) : NULL;
}

/* Ours to release. Taken by its context's teardown it may come back, time and again: then we find the same buffer. */
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

/*
 * The driver's own free waits for what GMOD does not know of. A buffer that is kept back is not given to it.
 */
static bool is_at_rest(void)
{
	return !gmod_options()->quarantine_mb && !gmod_work_outstanding();
}

static CUresult free_guarded(const struct gmod_found *found, const char *entry_point)
{
	struct gmod_record *r = found->record;
	const struct gmod_details *d = gmod_record_details(r);
	uint64_t began = gmod_ticks(), context = gmod_handle(gmod_buffer_context(r));
	struct gmod_moment swept = gmod_sweep_latest();
	unsigned ends = ends_of(r);
	bool visited, is_current, quiet, rests, waited;
	CUresult result;

	if (!begin_release(found)) {
		gmod_misuse_free(found->bounds.user, found, entry_point, CUDA_ERROR_INVALID_VALUE);
		return CUDA_ERROR_INVALID_VALUE;
	}
	disarm(r);
	quiet = atomic_load_explicit(&d->quiet_until, memory_order_relaxed) == gmod_activity_total();
	visited = gmod_context_visit_begin(d->context);
	is_current = context && gmod_context_is_current(d->context);
	/* Before the verdict: what is said of the suspects is how they are after the wait. */
	rests = quiet || is_at_rest();
	waited = !rests && gmod_on() && gmod_context_wait(d->context);
	if (waited && is_current)
		gmod_prove_context(context, began);
	look(r, swept, quiet);
	gmod_context_visit_end(visited);
	result = release(r, ends, rests, waited, entry_point);
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
