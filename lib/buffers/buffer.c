#include "lib/buffers/buffer.h"

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/buffers/misuse.h"
#include "lib/buffers/peers.h"
#include "lib/buffers/quarantine.h"
#include "lib/base/deadline.h"
#include "lib/context/wait.h"
#include "lib/base/log.h"
#include "lib/base/phase.h"
#include "lib/base/facts.h"
#include "lib/base/map.h"
#include "lib/base/counters.h"
#include "lib/base/unwind.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/verify.h"
#include "monitor/watch/swept.h"

static _Atomic uint64_t next_serial;

/* ---- slack that the CPU does not see: it is written and read by copies, as lib/buffers/gather.c reads it ---- */

/* From pageable memory: the driver has its own copy when this returns. */
static CUresult send_halves(const struct gmod_context *c, uint64_t to, const void *bytes, size_t half)
{
	CUDA_MEMCPY2D two_rows = {
	    .srcMemoryType = CU_MEMORYTYPE_HOST,
	    .srcHost = bytes,
	    .srcPitch = half,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	    .dstDevice = to,
	    .dstPitch = half,
	    .WidthInBytes = half,
	    .Height = 2,
	};

	return NEXT(cuMemcpy2DAsync_v2)(&two_rows, c->stream);
}

/*
 * As two rows: these go through the copy engine. A fill, and a small copy in one piece, wait for the program's kernels
 * where all streams share one way to the device (CUDA_DEVICE_MAX_CONNECTIONS=1): 19 ms beside a kernel of 20 ms that
 * another one waits for, where two rows take 20 us (measured on an H200). What has an odd length goes twice.
 */
static bool send(const struct gmod_context *c, uint64_t from, uint64_t to, const uint8_t *bytes)
{
	size_t half = (to - from) / 2, odd = (to - from) % 2;

	if (!half)
		return !odd || NEXT(cuMemcpyHtoDAsync_v2)(from, bytes, odd, c->stream) == CUDA_SUCCESS;
	return send_halves(c, from, bytes, half) == CUDA_SUCCESS &&
	       (!odd || send_halves(c, from + odd, bytes + odd, half) == CUDA_SUCCESS);
}

/*
 * Kernels the program launches next are not ordered behind our stream: the canaries have to be there first, or one of
 * them may stray there unseen. The copies take 7 to 30 us, also on a device full of kernels or beside large copies
 * (measured on an H200). Behind a kernel that was first launched, and so loaded, while another one ran they wait for
 * that one, which may wait for the program: an allocation gives up after some 2 ms. On a busy machine others get the
 * CPU first, who may be what moves the copies on.
 */
static bool wait_a_little(const struct gmod_context *c)
{
	enum { YIELDS = 100, NAPS = 30 };
	uint64_t unlimited = UINT64_MAX;
	CUresult r;

	for (int i = 0; (r = NEXT(cuStreamQuery)(c->stream)) == CUDA_ERROR_NOT_READY && i < YIELDS + NAPS; i++)
		if (i < YIELDS)
			sched_yield();
		else
			gmod_nap(&unlimited, GMOD_MILLISECONDS(1) / 50);
	if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY)
		gmod_degraded("cuStreamQuery");
	return r == CUDA_SUCCESS;
}

static _Atomic uint64_t late_since[GMOD_CONTEXTS]; /* monotonic: of those in a row the first; 0: the latest was not */

/* The next would be late, too: nobody waits any more, and no more copies come behind those that are stuck. */
static bool is_held_up(const struct gmod_context *c)
{
	uint64_t since = atomic_load_explicit(&late_since[gmod_context_index(c)], memory_order_relaxed);

	return since && gmod_monotonic_ns() - since >= GMOD_MILLISECONDS(50) && !gmod_stream_is_idle(c->stream);
}

static void note_late(const struct gmod_context *c, bool is)
{
	_Atomic uint64_t *since = &late_since[gmod_context_index(c)];

	if (!is)
		atomic_store_explicit(since, 0, memory_order_relaxed);
	else if (!atomic_load_explicit(since, memory_order_relaxed))
		atomic_store_explicit(since, gmod_monotonic_ns(), memory_order_relaxed);
}

static bool send_slack(struct gmod_request *q, const struct gmod_bounds *b, const struct gmod_slack *slack)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	const struct gmod_context *c = q->context;
	bool ok;

	ok = send(c, gmod_slack_from(b), b->user, slack->head) && send(c, b->user + b->size, b->tail_from, slack->tail);
	if (ok) {
		q->late = !wait_a_little(c);
		note_late(c, q->late);
	} else {
		gmod_degraded("cuMemcpy2DAsync");
	}
	gmod_relaxed_end(mode);
	return ok;
}

/* To pageable memory: the bytes are there when the copy returns. */
static bool receive(const struct gmod_context *c, void *to, uint64_t from, uint64_t end)
{
	return from == end || NEXT(cuMemcpyDtoHAsync_v2)(to, from, end - from, c->stream) == CUDA_SUCCESS;
}

static bool read_slack(const struct gmod_context *c, const struct gmod_bounds *b, struct gmod_slack *out)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool ok = receive(c, out->head, gmod_slack_from(b), b->user) &&
		  receive(c, out->tail, b->user + b->size, b->tail_from);

	gmod_relaxed_end(mode);
	if (!ok)
		gmod_degraded("cuMemcpyDtoHAsync");
	return ok;
}

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

static CUresult alloc_native(const struct gmod_request *q, uint64_t *out)
{
	CUresult r = call_native(q, out);

	if (r == CUDA_SUCCESS && q->memory != GMOD_MEM_HOST) {
		bool green = gmod_on() && gmod_current_owner().green;

		gmod_count(green ? &gmod_counters.unsupported : &gmod_counters.fallback, 1);
		gmod_count(&gmod_counters.capped, q->capped);
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

void gmod_buffer_describe(struct gmod_record *r, const struct gmod_request *q, const struct gmod_place *p)
{
	struct gmod_details *d = gmod_record_details(r);

	d->backend_name = d->backend->name;
	d->raw = p->raw;
	d->host_flags = q->memory == GMOD_MEM_HOST ? q->flags : 0;
	d->serial = atomic_fetch_add_explicit(&next_serial, 1, memory_order_relaxed) + 1;
	d->allocated_ns = gmod_clock_ns(CLOCK_REALTIME);
	d->allocated_ticks = gmod_ticks();
	d->context = q->context;
	d->tid = syscall(SYS_gettid);
	d->device = q->context->device;
	d->memory = q->memory;
	gmod_unwind(&d->stack, gmod_options()->stack_depth);
	gmod_record_set_bounds(r, &(struct gmod_bounds){p->user, q->size, p->zone_head, p->body, p->zone_tail, p->end});
}

static void count_guarded(const struct gmod_request *q)
{
	bool host = q->memory == GMOD_MEM_HOST;

	gmod_count(host ? &gmod_counters.host : &gmod_counters.guarded, 1);
	gmod_count(host ? &gmod_counters.host_bytes : &gmod_counters.guarded_bytes, q->size);
	gmod_count(&gmod_counters.late, q->late);
}

/* Where slack is while copies take or bring it: the thread may have a small stack, and a mapping takes its time. */
static struct {
	struct gmod_slack slack[8];
	atomic_bool taken[8];
} rooms;

static struct gmod_slack *take_room(void)
{
	for (int i = 0; i < 8; i++)
		/* acquire: whoever had it is done with it */
		if (!atomic_exchange_explicit(&rooms.taken[i], true, memory_order_acquire))
			return &rooms.slack[i];
	return gmod_map(sizeof(struct gmod_slack));
}

/* Is slack of the record's brought over by copies? Room for it. */
static bool slack_begin(const struct gmod_record *r, struct gmod_slack **slack)
{
	bool needed = !gmod_record_details(r)->backend->sees_body && gmod_has_slack(&r->bounds);

	*slack = needed ? take_room() : NULL;
	if (needed && !*slack)
		gmod_degraded("memory for slack");
	return !needed || *slack;
}

static void slack_end(struct gmod_slack *slack)
{
	if (slack >= rooms.slack && slack < rooms.slack + 8)
		/* release: see take_room() */
		atomic_store_explicit(&rooms.taken[slack - rooms.slack], false, memory_order_release);
	else if (slack)
		munmap(slack, sizeof(*slack));
}

static bool place(struct gmod_record *r, struct gmod_request *q)
{
	struct gmod_details *d = gmod_record_details(r);
	struct gmod_slack *slack;
	bool done;

	if (!slack_begin(r, &slack))
		return false;
	gmod_canary_place(d->canary, gmod_hot.key, d->serial, &r->bounds, gmod_record_lines(r), slack);
	done = !slack || send_slack(q, &r->bounds, slack);
	slack_end(slack);
	return done;
}

/* Canaries in place, record LIVE. false: the buffer is not guarded, and nothing refers to it. */
static bool arm(struct gmod_record *r, struct gmod_request *q)
{
	const struct gmod_backend *b = gmod_record_details(r)->backend;

	atomic_store_explicit(&gmod_record_details(r)->quiet_until, gmod_activity_done(), memory_order_relaxed);
	if (!place(r, q))
		return false;
	if (b->arm)
		b->arm(q, r);
	if (!gmod_index_publish(r)) {
		gmod_degraded("index");
		return false;
	}
	gmod_peers_published(r);
	return true;
}

static void disarm(const struct gmod_record *r)
{
	const struct gmod_backend *b = gmod_record_details(r)->backend;

	if (b->disarm)
		b->disarm(r);
}

static const char *backend_of(const struct gmod_context *c)
{
	for (size_t i = 0; gmod_backends[i]; i++)
		if (gmod_backends[i]->says && gmod_backends[i]->works(c->device))
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
		d->backend = gmod_backends[i];
		answer = d->backend->alloc(q, d->own, p);
	}
	return answer;
}

static enum gmod_answer guard(struct gmod_request *q, uint64_t *out)
{
	struct gmod_record *r = gmod_record_claim();
	enum gmod_answer answer;
	struct gmod_place p;

	if (!r) {
		gmod_degraded("registry");
		return GMOD_FAILS;
	}
	answer = ask(q, gmod_record_details(r), &p);
	if (answer == GMOD_ACCEPTS) {
		gmod_buffer_describe(r, q, &p);
		if (arm(r, q)) {
			count_guarded(q);
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
static CUresult alloc_guarded(struct gmod_request *q, uint64_t *out)
{
	struct gmod_busy busy = gmod_busy_begin();
	enum gmod_answer answer = busy.on ? guard(q, out) : GMOD_FAILS;

	gmod_busy_end(busy);
	return answer == GMOD_ACCEPTS ? CUDA_SUCCESS : alloc_native(q, out);
}

static CUresult allocate(struct gmod_request *q, uint64_t *out)
{
	q->late = q->capped = false;
	q->context = gmod_on() && !sampled_out() ? gmod_context_current() : NULL;
	if (!q->context)
		return alloc_native(q, out);
	say_backend(q->context);
	if (q->memory == GMOD_MEM_DEVICE && is_held_up(q->context))
		return alloc_native(q, out);
	return alloc_guarded(q, out);
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

	if (b->drop)
		b->drop(r);
	gmod_record_retire(r);
}

/* The last look at all canaries, once the device is done: without slack that cannot be had, or is as it was written. */
static void look(struct gmod_record *r, struct gmod_moment swept, bool quiet)
{
	const struct gmod_details *d = gmod_record_details(r);
	struct gmod_slack *slack = NULL;
	bool read;

	if (d->backend->sees_body) {
		gmod_verify_released(r, GMOD_VERIFY_ALL, NULL, swept);
		return;
	}
	read = !quiet && slack_begin(r, &slack) && slack && gmod_on() && read_slack(d->context, &r->bounds, slack);
	gmod_verify_released(r, read ? GMOD_VERIFY_COPIED : GMOD_VERIFY_VISIBLE, slack, swept);
	slack_end(slack);
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
	return any;
}

/* The facts of the buffer that it was are remembered. As much is filled as is looked at. */
static bool become_canary(struct gmod_record *r)
{
	struct gmod_details *d = gmod_record_details(r);
	uint64_t from = r->bounds.user, all = r->bounds.tail_to - from;
	uint64_t end = from + (all < GMOD_TAIL_SLACK ? all : GMOD_TAIL_SLACK);
	struct gmod_moment now = gmod_now();
	struct gmod_request q = {.context = d->context};

	gmod_record_renew(r, &(struct gmod_bounds){from, 0, from, from, end, end});
	d->kept_back = true;
	d->serial = atomic_fetch_add_explicit(&next_serial, 1, memory_order_relaxed) + 1;
	d->allocated_ns = now.ns;
	d->allocated_ticks = now.ticks;
	d->reported = 0;
	if (!place(r, &q))
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
 * context's entry had seen end when it was still LIVE. done: all work of the context is.
 */
static CUresult release(struct gmod_record *r, unsigned ends, bool done, const char *entry_point)
{
	static const struct gmod_found none;
	uint64_t address = r->bounds.user;
	CUresult result;

	gmod_misuse_remember_free(r);
	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	if (done && keep_back(r))
		return CUDA_SUCCESS;
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

static CUresult free_guarded(const struct gmod_found *found, const char *entry_point)
{
	struct gmod_record *r = found->record;
	const struct gmod_details *d = gmod_record_details(r);
	uint64_t began = gmod_ticks(), context = gmod_handle(gmod_buffer_context(r));
	struct gmod_moment swept = gmod_sweep_latest();
	unsigned ends = ends_of(r);
	bool visited, is_current, quiet, waited;
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
	waited = !quiet && gmod_on() && gmod_context_wait(d->context);
	if (waited && is_current)
		gmod_prove_context(context, began);
	look(r, swept, quiet);
	gmod_context_visit_end(visited);
	result = release(r, ends, quiet || waited, entry_point);
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
