#include "lib/buffers/ordered.h"

#include <string.h>

#include "lib/base/counters.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/hash.h"
#include "lib/base/keep.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "lib/base/unwind.h"
#include "lib/buffers/buffer.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/ordered_block.h"
#include "lib/buffers/ordered_pool.h"
#include "lib/context/capture.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/monitor.h"

/* Time of the stream that they take, between kernels: the copy engine has to be waited for (measured on an H100). */
#define FILL_NS 1500
#define LOOK_NS 10000

/* Not in gmod_backends: lib/buffers/buffer.c never has one of them. */
static const struct gmod_backend ordered = {.name = "pool"};

static uint32_t pending[32], pending_count; /* under gmod_blocks_lock */
static atomic_int arming; /* buffers that are about to be filled; gmod_hot.ordered is both together, for hooks */

static struct gmod_block *block_of(const struct gmod_record *r)
{
	return &gmod_blocks[gmod_record_details(r)->own];
}

/* ---- allocations ---- */

uint64_t gmod_ordered_site(const void *caller, const void *frame, size_t size)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(size | 4);
	/* From a place that each thread has at the same distance from its stack. */
	uint64_t depth = (uint64_t)((const char *)&gmod_thread_here - (const char *)frame);
	uint64_t about = (uint64_t)bits << 2 | (size >> (bits - 3) & 3);

	return gmod_hash(gmod_hash(gmod_hash((uint64_t)(uintptr_t)caller) ^ depth) ^ about) | 1;
}

CUresult gmod_ordered_native(const struct gmod_ordered_request *q, size_t size, CUdeviceptr *out)
{
	bool per_thread = q->flavour == GMOD_PER_THREAD;

	if (q->from_pool)
		return (per_thread ? NEXT(cuMemAllocFromPoolAsync_ptsz)
				   : NEXT(cuMemAllocFromPoolAsync))(out, size, q->pool, q->stream);
	return (per_thread ? NEXT(cuMemAllocAsync_ptsz) : NEXT(cuMemAllocAsync))(out, size, q->stream);
}

static void count_bare(const struct gmod_block *b)
{
	gmod_count(&gmod_counters.ordered_bare, 1);
	gmod_sample_take_back(gmod_record_details(b->record)->site);
}

/* What does not find a place stays bare. */
static void wait_for_the_stream(struct gmod_block *b)
{
	bool locked = gmod_lock(&gmod_blocks_lock), fits = locked && pending_count < sizeof(pending) / sizeof(*pending);

	gmod_block_set_state(b, fits ? GMOD_PENDING : GMOD_BARE);
	if (fits) {
		pending[pending_count++] = gmod_place_of(b);
		atomic_fetch_add_explicit(&gmod_hot.ordered, 1, memory_order_relaxed);
	} else {
		count_bare(b);
	}
	if (locked)
		gmod_unlock(&gmod_blocks_lock);
}

/* By a fill that goes into the stream. */
static bool fill(struct gmod_block *b, const struct gmod_order *in)
{
	b->intact = gmod_now();
	if (gmod_fill_ask(b->record, in->stream) != CUDA_SUCCESS)
		return false;
	/*
	 * Of the legacy stream nobody asks whether it is idle, since that is an error beside a capture; of a thread's
	 * own no other thread can. A program may know by other means than a wait that its work there is done.
	 */
	if (gmod_is_default_stream(in->stream))
		b->behind = gmod_event_behind(in->stream);
	b->armed = gmod_ticks();
	return true;
}

/*
 * A range of the program's own pool is armed at once, because the program has asked for it. No address leads to it:
 * what is freed, copied or filled there is the program's buffer around it.
 */
static bool publish_range(struct gmod_block *b, const struct gmod_order *in)
{
	const struct gmod_bounds *bounds = &b->record->bounds;

	gmod_proof_remember_new();
	if (!fill(b, in))
		return false;
	gmod_count(&gmod_counters.ranges, 1);
	gmod_count(&gmod_counters.ranges_bytes, bounds->size);
	gmod_block_set_state(b, GMOD_ARMED);
	/* release: who takes it by its start finds it whole */
	atomic_store_explicit(&gmod_range_starts[gmod_place_of(b)], bounds->user, memory_order_release);
	gmod_record_publish(b->record);
	return true;
}

/* For ever, because reports come later: of what is guarded alone, as a program may have a name for each step. */
static const char *kept_name(const char *name)
{
	enum { MOST = 63 };
	const struct gmod_kept *kept = gmod_keep(name, strnlen(name, MOST));

	return kept ? kept->bytes : "";
}

/* false: it cannot be found by its address, and is unguarded. */
static bool publish(const struct gmod_ordered_request *q, struct gmod_context *c, struct gmod_block *b, uint64_t at,
		    size_t total)
{
	struct gmod_request plain = {.memory = GMOD_MEM_DEVICE, .size = q->size, .context = c};
	struct gmod_place place = {at, at, at, at, at + q->size, at + total, at + total};
	struct gmod_details *d = gmod_record_details(b->record);
	struct gmod_order in = gmod_order_of(q->stream, q->flavour);

	gmod_buffer_describe(b->record, &plain, &place);
	gmod_unwind(&d->stack, gmod_options()->stack_depth);
	d->context = NULL;
	d->name = q->name ? kept_name(q->name) : NULL;
	d->own = gmod_place_of(b);
	gmod_fill_choose(b->record);
	/* The monitor may still be at the block's last buffer. */
	__atomic_store_n(&b->context, c, __ATOMIC_RELAXED);
	b->life = gmod_context_life(c);
	b->stream = in.key;
	b->handle = in.stream;
	b->pool = q->pool;
	if (!b->pool && !q->name && NEXT(cuDeviceGetMemPool)(&b->pool, c->device) != CUDA_SUCCESS)
		b->pool = NULL;
	b->extra = q->name ? 0 : total - q->size;
	b->seen_ns = 0;
	b->seen_activity = UINT64_MAX;
	if (!gmod_pool_gave_device_memory(at))
		return false;
	if (q->name)
		return publish_range(b, &in);
	if (!gmod_index_publish(b->record)) {
		gmod_degraded("index");
		return false;
	}
	wait_for_the_stream(b);
	return true;
}

/*
 * false: nothing has been allocated. A buffer that cannot be published is the program's all the same, a little longer
 * than it knows. A range lies at *out already.
 */
static bool guard(const struct gmod_ordered_request *q, struct gmod_site *site, CUdeviceptr *out)
{
	struct gmod_context *c = gmod_context_current();
	uint64_t began;
	uint8_t *places;
	struct gmod_block *b;
	size_t total;
	bool published;

	if (__builtin_add_overflow(q->size, GMOD_REDZONE + GMOD_DEVICE_ALIGNMENT - 1, &total) || !c || !c->stream ||
	    (!q->name && gmod_pool_is_left_alone(c, q->pool)) ||
	    gmod_stream_owner(gmod_explicit(q->stream, q->flavour)) != c->handle || !gmod_pool_reaches(c, q->pool) ||
	    !(places = gmod_pinned(c, &c->looks)) || !(b = gmod_block_take()))
		return false;
	total = q->name ? q->size + q->padding : total - total % GMOD_DEVICE_ALIGNMENT;
	b->lands = places + (size_t)gmod_place_of(b) * GMOD_LOOK_BYTES;
	b->record = gmod_record_claim();
	if (b->record) {
		gmod_record_details(b->record)->backend = &ordered;
		gmod_record_details(b->record)->site = site;
	}
	if (!b->record || (!q->name && gmod_ordered_native(q, total, out) != CUDA_SUCCESS)) {
		if (b->record)
			gmod_record_abandon(b->record);
		gmod_block_give(b);
		return false;
	}
	began = gmod_monotonic_ns();
	published = publish(q, c, b, *out, total);
	if (!published) {
		gmod_record_abandon(b->record);
		gmod_block_give(b);
	}
	gmod_sample_spent(gmod_monotonic_ns() - began, q->name ? FILL_NS : 0);
	return published || !q->name;
}

bool gmod_ordered_alloc(const struct gmod_ordered_request *q, CUdeviceptr *out)
{
	struct gmod_cancel cancel;
	struct gmod_site *site;
	bool done;

	if (!gmod_sample(q->site, gmod_monotonic_ns(), &site))
		return false;
	cancel = gmod_cancel_begin();
	done = guard(q, site, out);
	gmod_cancel_end(cancel);
	if (!done)
		gmod_sample_take_back(site);
	return done;
}

/* ---- arming ---- */

/* What goes into the legacy stream comes behind all others, and they behind it. */
static bool is_legacy(uint64_t stream, const struct gmod_block *b)
{
	uint64_t legacy = gmod_handle(gmod_block_context(b)) ^ GMOD_KEY_LEGACY;

	return stream == legacy || b->stream == legacy;
}

/*
 * Under the lock, before something goes into that stream: what is pending there is GMOD_BEING_ARMED, in *mine, if that
 * is there, or BARE where it is waited for. Others go on waiting, but for those that come to be joined. stream 0: none
 * goes on.
 */
static unsigned sort_pending(uint64_t stream, bool waited_for, struct gmod_block **mine)
{
	unsigned kept = 0, count = 0;

	for (unsigned i = 0; i < pending_count; i++) {
		struct gmod_block *b = &gmod_blocks[pending[i]];
		bool own = b->stream == stream;

		if (mine && own) {
			gmod_block_set_state(b, GMOD_BEING_ARMED);
			mine[count++] = b;
		} else if (stream && !(waited_for && own) && !is_legacy(stream, b)) {
			pending[kept++] = pending[i];
		} else {
			gmod_block_set_state(b, GMOD_BARE);
			count_bare(b);
		}
	}
	atomic_fetch_sub_explicit(&gmod_hot.ordered, (int)(pending_count - kept - count), memory_order_relaxed);
	pending_count = kept;
	return count;
}

/* Up to here it was counted as what is not covered. */
static void count_armed(const struct gmod_block *b)
{
	uint64_t size = b->record->bounds.size;

	gmod_count(&gmod_counters.unsupported, (uint64_t)-1);
	gmod_count(&gmod_counters.unsupported_bytes, -size);
	gmod_count(&gmod_counters.ordered, 1);
	gmod_count(&gmod_counters.ordered_bytes, size);
}

static void arm(struct gmod_block *b, const struct gmod_order *in)
{
	if (!fill(b, in)) {
		gmod_degraded("cuMemsetD32Async");
		count_bare(b);
		gmod_block_set_state(b, GMOD_BARE);
		return;
	}
	count_armed(b);
	gmod_block_set_state(b, GMOD_ARMED);
}

void gmod_ordered_arm(const struct gmod_order *in)
{
	struct gmod_block *mine[sizeof(pending) / sizeof(*pending)];
	uint64_t began = gmod_monotonic_ns();
	struct gmod_cancel cancel;
	unsigned count = 0;

	if (!gmod_on())
		return;
	cancel = gmod_cancel_begin();
	if (gmod_lock(&gmod_blocks_lock)) {
		count = sort_pending(in->key, false, mine);
		atomic_fetch_add_explicit(&arming, (int)count, memory_order_relaxed);
		gmod_unlock(&gmod_blocks_lock);
		if (count > 0)
			gmod_proof_remember_new();
		for (unsigned i = 0; i < count; i++)
			arm(mine[i], in);
		/* release, both: who finds none comes behind the fills */
		atomic_fetch_sub_explicit(&arming, (int)count, memory_order_release);
		atomic_fetch_sub_explicit(&gmod_hot.ordered, (int)count, memory_order_release);
		gmod_monitor_ensure();
	}
	gmod_cancel_end(cancel);
	gmod_sample_spent(gmod_monotonic_ns() - began, (uint64_t)count * FILL_NS);
}

void gmod_ordered_arm_in(CUstream stream, enum gmod_flavour flavour)
{
	struct gmod_order in = gmod_order_of(stream, flavour);

	if (!gmod_is_captured(stream, flavour))
		gmod_ordered_arm(&in);
}

/*
 * A fill that another thread is about to put into that stream must not come behind what others may wait for. In another
 * stream it may take its time: the driver lets it wait where the stream is full.
 */
static void await_fills(uint64_t stream)
{
	uint32_t count = atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed);
	uint64_t deadline = GMOD_SECONDS(5);

	for (uint32_t i = 0; atomic_load_explicit(&arming, memory_order_acquire) && i < count; i++) {
		const struct gmod_block *b = &gmod_blocks[i];

		while (gmod_block_state(b) == GMOD_BEING_ARMED &&
		       (!stream || b->stream == stream || is_legacy(stream, b)) &&
		       gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 50))
			;
	}
}

void gmod_ordered_give_up(uint64_t stream, bool waited_for)
{
	if (!gmod_on() || !gmod_lock(&gmod_blocks_lock))
		return;
	sort_pending(stream, waited_for, NULL);
	gmod_unlock(&gmod_blocks_lock);
	await_fills(stream);
}

/* A stream's fills run to their end, however soon it is destroyed. */
void gmod_ordered_stream_ends(uint64_t key)
{
	gmod_ordered_passed();
	if (!gmod_lock(&gmod_blocks_lock))
		return;
	for (uint32_t i = 0; i < atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed); i++) {
		struct gmod_block *b = &gmod_blocks[i];

		if (b->stream != key)
			continue;
		if (gmod_block_is_armed(b))
			b->armed = 0;
		b->stream = 0;
	}
	gmod_unlock(&gmod_blocks_lock);
}

/* ---- frees ---- */

/* Nothing of ours goes into a stream for it from here on. Is it armed? */
static bool disarm(struct gmod_block *b)
{
	uint64_t deadline = GMOD_SECONDS(5);

	if (gmod_block_state(b) == GMOD_PENDING && gmod_lock(&gmod_blocks_lock)) {
		for (unsigned i = 0; i < pending_count; i++)
			if (&gmod_blocks[pending[i]] == b) {
				pending[i] = pending[--pending_count];
				gmod_block_set_state(b, GMOD_BARE);
				count_bare(b);
				atomic_fetch_sub_explicit(&gmod_hot.ordered, 1, memory_order_relaxed);
			}
		gmod_unlock(&gmod_blocks_lock);
	}
	while (gmod_block_state(b) == GMOD_BEING_ARMED && gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 50))
		;
	return gmod_block_state(b) == GMOD_ARMED;
}

/* Does what comes next in that stream come behind the fill? */
static bool follows(const struct gmod_block *b, uint64_t stream)
{
	return stream == b->stream || gmod_block_is_armed(b) ||
	       (b->stream && gmod_stream_follows(stream, b->stream, b->armed));
}

static bool is_capturing(CUstream stream)
{
	return gmod_is_captured(stream, GMOD_LEGACY);
}

/* The copy in front of the free. */
static bool look_before(struct gmod_block *b, const struct gmod_order *in)
{
	if (!in->key || !follows(b, in->key) || is_capturing(in->stream) || !gmod_block_context(b) ||
	    gmod_stream_owner(in->stream) != gmod_block_context(b) ||
	    !gmod_look_ask(gmod_block_canary(b), gmod_block_redzone(b), b->lands, in->stream))
		return false;
	b->looked_in = in->key;
	b->looked_from = b->armed;
	b->looked_to = gmod_ticks();
	b->changed_ns = 0;
	return true;
}

/*
 * A look of the monitor's may be on its way still, by a copy in a stream of ours: the memory goes behind that one. A
 * graph that is being captured frees nothing now.
 */
static CUstream behind_looks(const struct gmod_block *b, CUstream stream)
{
	/* Whoever has seen the record LIVE has counted its look: the pin is no longer there. */
	if (!atomic_load_explicit(&b->looks, memory_order_relaxed) || !gmod_block_context(b))
		return stream;
	if (!stream)
		return b->context->stream;
	if (!is_capturing(stream))
		gmod_look_precede(b->context, stream);
	return stream;
}

static CUresult free_now(struct gmod_block *b, const struct gmod_order *in)
{
	CUdeviceptr at = b->record->bounds.user;
	CUstream stream = behind_looks(b, in->stream);

	if (gmod_record_details(b->record)->name)
		return CUDA_SUCCESS; /* the program has the memory still */
	return stream ? NEXT(cuMemFreeAsync)(at, stream) : NEXT(cuMemFree_v2)(at);
}

static CUresult release(struct gmod_block *b, const struct gmod_order *in, bool armed)
{
	struct gmod_record *r = b->record;
	uint64_t began = gmod_monotonic_ns();
	bool asked = armed && in->stream && look_before(b, in);
	CUresult result;

	if (armed && !asked)
		gmod_count(&gmod_counters.ordered_unseen, 1);
	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	gmod_sample_spent(gmod_monotonic_ns() - began, asked ? LOOK_NS : 0);
	result = free_now(b, in);
	if (result != CUDA_SUCCESS) {
		gmod_index_reinstate(r);
		return result;
	}
	gmod_misuse_remember_free(r);
	if (!asked) {
		gmod_block_retire(b);
		return result;
	}
	atomic_fetch_add_explicit(&gmod_blocks_awaited, 1, memory_order_relaxed);
	gmod_block_set_state(b, GMOD_LOOKED_AT);
	gmod_noted();
	return result;
}

/* The record stays RELEASING, and in the index: another free is refused. */
static CUresult leave(struct gmod_block *b)
{
	struct gmod_record *r = b->record;

	gmod_count(&gmod_counters.ordered_unseen, 1);
	gmod_misuse_remember_free(r);
	b->extra = r->bounds.tail_to - r->bounds.user;
	atomic_fetch_add_explicit(&gmod_blocks_left, 1, memory_order_relaxed);
	gmod_block_set_state(b, GMOD_LEFT);
	gmod_noted();
	return CUDA_SUCCESS;
}

/*
 * cuMemFree of what came from a pool does not wait, and a trim may take the pages away at once, also from under a fill
 * that is still to run (measured). Where it is not known to be done the buffer is freed behind it, in the stream's
 * order. Not in one that has ended, in the legacy stream, where the free would join all others, or in a thread's own,
 * which may be another thread's: the monitor frees there, once it is known.
 */
static CUresult free_plainly(struct gmod_block *b, bool armed)
{
	struct gmod_order in = {b->handle, b->stream}, now = {.stream = NULL};

	if (!armed || !gmod_block_context(b) || gmod_block_is_filled(b))
		return release(b, &now, armed && gmod_on());
	if (!b->stream || gmod_is_default_stream(b->handle) || is_capturing(b->handle))
		return leave(b);
	return release(b, gmod_stream_is_idle(b->handle) ? &now : &in, gmod_on());
}

CUresult gmod_ordered_free(const struct gmod_found *found, const struct gmod_order *in, const char *entry_point)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	struct gmod_block *b = block_of(found->record);
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	bool armed;

	if (gmod_record_begin_release(found->record, found->word)) {
		armed = disarm(b);
		result = in ? release(b, in, armed && gmod_on()) : free_plainly(b, armed);
	} else {
		gmod_misuse_free(found->bounds.user, found, entry_point, result);
	}
	gmod_cancel_end(cancel);
	return result;
}

/* ---- ranges of the program's own pools ---- */

bool gmod_ordered_is_closed(CUstream stream)
{
	return atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed) &&
	       (stream == CU_STREAM_LEGACY || is_capturing(stream));
}

/* NULL: none begins there. A walk over the starts of some hundreds takes less than a fill. */
static struct gmod_block *find_range(uint64_t start)
{
	uint32_t count = atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed);

	for (uint32_t i = 0; i < count; i++)
		/* acquire: it is whole */
		if (atomic_load_explicit(&gmod_range_starts[i], memory_order_acquire) == start)
			return &gmod_blocks[i];
	return NULL;
}

bool gmod_ordered_has_range(uint64_t start)
{
	return find_range(start) != NULL;
}

/* Of several threads one has it. */
static bool take_range(struct gmod_block *b, uint64_t start)
{
	return atomic_compare_exchange_strong_explicit(&gmod_range_starts[gmod_place_of(b)], &start, 0,
						       memory_order_acquire, memory_order_relaxed) &&
	       gmod_record_begin_release(b->record, gmod_record_live(b->record));
}

/*
 * Beside a capture nobody can look. A look of ours may be on its way: the memory may be unmapped when this returns. The
 * monitor sees that it has come, unless GMOD is suspended.
 */
static void leave_unseen(struct gmod_block *b)
{
	uint64_t deadline = GMOD_SECONDS(2);

	gmod_count(&gmod_counters.ordered_unseen, 1);
	while (atomic_load_explicit(&b->looks, memory_order_relaxed) && gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 50))
		if (atomic_load_explicit(&gmod_hot.suspended, memory_order_relaxed))
			gmod_ordered_take_answers();
	gmod_block_retire(b);
}

bool gmod_ordered_unguard(uint64_t start, const struct gmod_order *in)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	struct gmod_block *b = find_range(start);
	bool taken = b && take_range(b, start);

	if (taken && gmod_ordered_is_closed(in->stream))
		leave_unseen(b);
	else if (taken)
		release(b, in, gmod_on());
	gmod_cancel_end(cancel);
	return taken;
}
