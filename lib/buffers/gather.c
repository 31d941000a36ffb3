#include "lib/buffers/gather.h"

#include <pthread.h>
#include <time.h>

#include "lib/base/counters.h"
#include "lib/base/scope.h"
#include "lib/base/deadline.h"
#include "lib/base/phase.h"
#include "lib/base/facts.h"
#include "lib/buffers/look.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/budget.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/verify.h"
#include "monitor/watch/swept.h"

enum { PIECES = 2 * GMOD_GATHERED };

/* How long copies are waited for, looking in between: after the least nap, then after twice as long each time, up to
 * 0.64 ms. A look takes some us of CPU time. */
#define PATIENCE_NEAR GMOD_MILLISECONDS(100)
#define PATIENCE_WHOLE GMOD_MILLISECONDS(500)
#define LEAST_NAP (GMOD_MILLISECONDS(1) / 50)
#define MOST_NAP (32 * LEAST_NAP)

/* One run of slack bytes, and where they land in the staging memory. */
struct piece {
	struct gmod_record *record;
	uint64_t word;
	enum gmod_side side;
	struct gmod_range slack;
	uint8_t *copy;
};

struct batch {
	struct gmod_context *context;
	enum gmod_gather what;
	uint8_t *staging;
	struct piece piece[PIECES];
	unsigned count;
	size_t used;              /* of the staging memory */
	struct gmod_moment began; /* before the copies of these pieces were asked for */
	bool failed;              /* no more of it */
	bool left_out;            /* some were */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Our own event on our own stream, in relaxed capture mode: this disturbs nobody's capture. Copies that are late may
 * still land in the staging memory: nothing more until they have. On a device that other processes use as well they
 * take their time; what is looked at now and then is looked at later then, and nothing is lost.
 */
static void wait_for_copies(struct batch *b)
{
	struct gmod_gathering *h = &b->context->gathering;
	uint64_t deadline = b->what == GMOD_GATHER_WHOLE ? PATIENCE_WHOLE : PATIENCE_NEAR, nap = LEAST_NAP;
	CUresult r = CUDA_ERROR_NOT_READY;

	while (gmod_may_call(b->context) && (r = NEXT(cuEventQuery)(h->gathered)) == CUDA_ERROR_NOT_READY &&
	       gmod_nap(&deadline, nap))
		nap = nap < MOST_NAP ? 2 * nap : nap;
	b->failed = h->overdue = r != CUDA_SUCCESS;
	if (b->failed && gmod_may_call(b->context) && (b->what == GMOD_GATHER_WHOLE || r != CUDA_ERROR_NOT_READY))
		gmod_degraded("gather");
}

/* What an earlier context had went with it. false: something is missing, or still under way. */
static bool prepare_batch(struct batch *b, struct gmod_context *c)
{
	struct gmod_gathering *h = &c->gathering;

	b->context = c;
	b->failed = b->left_out = false;
	if (h->life != gmod_context_life(c))
		*h = (struct gmod_gathering){.life = gmod_context_life(c)};
	if (!h->gathered && NEXT(cuEventCreate)(&h->gathered, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
		h->gathered = NULL;
		gmod_degraded("cuEventCreate");
	}
	b->staging = gmod_pinned(c, &c->staging);
	if (h->gathered && b->staging && h->overdue)
		wait_for_copies(b);
	return h->gathered && b->staging && !b->failed;
}

static void add_slack(struct batch *b, struct gmod_record *r)
{
	struct gmod_bounds bounds;
	uint64_t word = gmod_record_snapshot(r, &bounds);

	/* In this order: details are a miss of every cache, and most buffers may have no slack. */
	if (!word || !gmod_has_slack(&bounds) ||
	    atomic_load_explicit(&gmod_record_details(r)->context, memory_order_relaxed) != b->context)
		return;
	for (int side = GMOD_HEAD; side <= GMOD_TAIL; side++) {
		struct gmod_range slack = b->what == GMOD_GATHER_NEAR ? gmod_near_slack(&bounds, (enum gmod_side)side)
								      : gmod_whole_slack(&bounds, (enum gmod_side)side);

		if (slack.from >= slack.to)
			continue;
		b->piece[b->count++] = (struct piece){r, word, (enum gmod_side)side, slack, b->staging + b->used};
		b->used += slack.to - slack.from;
	}
}

/*
 * And the event behind them. In one call where the driver has it (CUDA 13): each call needs the driver's lock, which a
 * thread may have that waits for the device. false: it refused some, or may not be called any more; later copies come
 * behind those that it took.
 */
static bool copy_pieces(const struct batch *b)
{
	CUmemcpyAttributes in_order = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	/* Under the lock, as a thread may have a small stack. */
	static CUdeviceptr to[PIECES], from[PIECES];
	static size_t bytes[PIECES];
	size_t first = 0;
	CUresult r = CUDA_SUCCESS;
	bool together;

	for (unsigned i = 0; i < b->count; i++) {
		to[i] = (CUdeviceptr)(uintptr_t)b->piece[i].copy;
		from[i] = b->piece[i].slack.from;
		bytes[i] = b->piece[i].slack.to - from[i];
	}
	atomic_fetch_add_explicit(&gmod_counters.gathered, b->count, memory_order_relaxed);
	together = b->count > 1 && HAVE(cuMemcpyBatchAsync_v2) && gmod_may_call(b->context) &&
		   NEXT(cuMemcpyBatchAsync_v2)(to, from, bytes, b->count, &in_order, &first, 1, b->context->stream) ==
		       CUDA_SUCCESS;
	for (unsigned i = 0; !together && i < b->count && r == CUDA_SUCCESS && gmod_may_call(b->context); i++)
		r = NEXT(cuMemcpyDtoHAsync_v2)(b->piece[i].copy, from[i], bytes[i], b->context->stream);
	return gmod_may_call(b->context) && gmod_succeeded(r, "cuMemcpyDtoHAsync") &&
	       gmod_succeeded(NEXT(cuEventRecord)(b->context->gathering.gathered, b->context->stream), "cuEventRecord");
}

/*
 * The slack of records from that one on, of one pin and as many as there is room for; returns how many. While the pin
 * is held, a free of such a buffer has not begun, and once it begins it waits for this copy like for any other work.
 * Handing the driver an address that is being freed would not do: it takes an address it does not know for pageable
 * host memory and reads it with the CPU (seen as a crash, on driver 580).
 */
static uint32_t copy_slack(struct batch *b, uint32_t first, uint32_t end)
{
	uint32_t i = first;

	b->count = 0;
	b->used = 0;
	gmod_pin(GMOD_PIN_GATHER, first);
	do
		add_slack(b, gmod_record_at(i++));
	while (i < end && i % GMOD_GATHERED && b->used + sizeof(struct gmod_slack) <= GMOD_STAGING);
	if (b->count && !copy_pieces(b)) {
		b->count = 0;
		b->left_out = true;
	}
	gmod_unpin(GMOD_PIN_GATHER);
	return i - first;
}

/* Once they have landed. */
static void compare_pieces(struct batch *b)
{
	struct gmod_busy busy;

	wait_for_copies(b);
	if (b->failed)
		return;
	if (!gmod_sweep_lock(GMOD_SECONDS(1))) {
		b->left_out = true;
		return;
	}
	busy = gmod_busy_begin();
	for (unsigned i = 0; busy.on && i < b->count; i++) {
		const struct piece *p = &b->piece[i];

		gmod_pin(GMOD_PIN_SWEEP, p->record->position);
		if (gmod_record_live(p->record) == p->word)
			gmod_verify_copied(p->record, p->word, p->side, p->slack, p->copy, b->began,
					   gmod_sweep_latest());
		gmod_unpin(GMOD_PIN_SWEEP);
	}
	gmod_busy_end(busy);
	gmod_sweep_unlock();
}

/* named: the positions of these only, or NULL. false: not all of it was looked at. */
static bool gather_in(struct batch *b, struct gmod_context *c, const uint32_t *named, unsigned count)
{
	uint32_t i = 0, end = named ? count : gmod_registry_used();

	if (!gmod_context_enter(c))
		return false;
	b->failed = !prepare_batch(b, c);
	while (i < end && !b->failed && gmod_may_call(c)) {
		uint32_t first = named ? named[i] : i;

		/* Before the stamp of what is seen intact: what is proven complete by now was not the one. */
		if (!i || b->count) {
			gmod_proof_remember();
			b->began = gmod_now();
		}
		i += copy_slack(b, first, named ? first + 1 : end);
		if (b->count)
			compare_pieces(b);
		gmod_monitor_progress();
	}
	gmod_context_leave(c);
	return i == end && !b->failed && !b->left_out;
}

static bool gather_locked(const struct gmod_context *only, enum gmod_gather what, const uint32_t *named, unsigned count)
{
	static struct batch b; /* too large for a stack; under the lock */
	struct timespec until = gmod_time_in(what == GMOD_GATHER_WHOLE ? GMOD_SECONDS(2) : 0);
	struct gmod_registry_stats stats;
	CUstreamCaptureMode mode;
	struct gmod_scope scope;
	bool done;

	gmod_registry_stats(&stats);
	if (!stats.live_slack)
		return true;
	/* A thread that is cancelled in here, or whose signal handler jumps, would keep the lock and the context's pin.
	 */
	gmod_scope_begin(&scope);
	done = !pthread_mutex_timedlock(&lock, &until);
	if (done) {
		b.what = what;
		mode = gmod_relaxed_begin();
		for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
			struct gmod_context *c = gmod_context_at(i);

			if ((!only || only == c) && gmod_may_call(c) && __atomic_load_n(&c->stream, __ATOMIC_RELAXED))
				done = gather_in(&b, c, named, count) && done;
		}
		gmod_relaxed_end(mode);
		pthread_mutex_unlock(&lock);
	}
	gmod_scope_end(&scope);
	return done;
}

bool gmod_gather(struct gmod_context *only, enum gmod_gather what)
{
	return gather_locked(only, what, NULL, 0);
}

bool gmod_gather_named(const struct gmod_context *c, const uint32_t *positions, unsigned count)
{
	return gather_locked(c, GMOD_GATHER_NAMED, positions, count);
}

/* ---- the monitor's round ---- */

/* The monitor's own. */
static struct {
	uint64_t ended_ns; /* the latest gather, or the first tick */
	uint64_t pause;    /* what max_cpu demands between two gathers; before the first one GMOD_EARLY */
	uint64_t cpu;      /* ns that the latest gather took */
	uint64_t activity; /* up to which a gather has seen everything; UINT64_MAX: none has */
	uint64_t relieved; /* until when the patrol looks as often as is wanted */
} round = {.pause = GMOD_EARLY, .cpu = UINT64_MAX, .activity = UINT64_MAX};

static bool is_needed(void)
{
	struct gmod_registry_stats stats;

	gmod_registry_stats(&stats);
	return stats.live_slack && gmod_activity_total() != round.activity;
}

/* Beside the patrol: what it does not look at, and whoever is not on its list. */
#define BESIDE GMOD_MILLISECONDS(100)

static uint64_t interval(void)
{
	uint64_t wanted = gmod_options()->scan_interval_us * GMOD_MILLISECONDS(1) / 1000;

	if (wanted < BESIDE && gmod_monotonic_ns() < round.relieved)
		wanted = BESIDE;
	return wanted > round.pause ? wanted : round.pause;
}

static bool is_due(void)
{
	uint64_t now = gmod_monotonic_ns();

	if (!round.ended_ns)
		round.ended_ns = now;
	return is_needed() && now - round.ended_ns >= interval();
}

/* For reports that wait for it: soon, and of these buffers only. */
static void look_at_wanted(void)
{
	uint32_t positions[64];
	unsigned n = gmod_damage_open(true, positions, 64);

	if (n)
		gmod_gather_named(NULL, positions, n);
}

void gmod_gather_relieve(uint64_t until_ns)
{
	round.relieved = until_ns;
}

void gmod_gather_tick(void)
{
	uint64_t cpu, activity;

	look_at_wanted();
	if (!is_due())
		return;
	cpu = gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	/* Only a gather that begins when all work is done has seen everything. */
	activity = gmod_activity_done();
	round.activity = gmod_gather(NULL, GMOD_GATHER_NEAR) ? activity : UINT64_MAX;
	cpu = gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	/* Half of the budget: sweeps go on meanwhile. By the lesser of two: a shared host makes some seem dear. */
	round.pause = 2 * gmod_budget_ns_for(gmod_options()->max_cpu, cpu < round.cpu ? cpu : round.cpu);
	round.cpu = cpu;
	round.ended_ns = gmod_monotonic_ns();
}

uint64_t gmod_gather_leisure(void)
{
	return is_needed() ? GMOD_PAUSE_MAX : UINT64_MAX;
}
