#include "lib/buffers/gather.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

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

_Static_assert(GMOD_BATCH * sizeof(struct gmod_slack) <= GMOD_STAGING, "all slack of some");
_Static_assert(GMOD_GATHERED *(GMOD_LINE + GMOD_NEAR_SLACK) <= GMOD_STAGING, "what is near, of one pin");

/* How long a batch is waited for, looking in between: after the least nap, then after twice as long each time, up to
 * 0.64 ms. A look takes some us of CPU time. */
#define PATIENCE_NEAR GMOD_MILLISECONDS(100)
#define PATIENCE_WHOLE GMOD_MILLISECONDS(500)
#define LEAST_NAP (GMOD_MILLISECONDS(1) / 50)
#define MOST_NAP (32 * LEAST_NAP)

/* One run of slack bytes on its way into staging memory. */
struct piece {
	struct gmod_record *record;
	uint64_t word;
	enum gmod_side side;
	uint64_t from, to;
	size_t at;
};

struct batch {
	struct gmod_context *context;
	struct gmod_gathering *held;
	uint8_t *staging;
	enum gmod_gather what;
	const uint32_t *named; /* the positions of these only */
	unsigned named_count;
	struct piece piece[PIECES];
	unsigned count;
	size_t used;
	struct gmod_moment began;
	bool failed;  /* no more of it */
	bool refused; /* some copies: they are left out */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Our own event on our own stream, in relaxed capture mode: this disturbs nobody's capture. */
static CUresult wait_for_copies(const struct batch *b)
{
	uint64_t deadline = b->what == GMOD_GATHER_WHOLE ? PATIENCE_WHOLE : PATIENCE_NEAR, nap = LEAST_NAP;
	CUresult r = NEXT(cuEventQuery)(b->held->gathered);

	while (r == CUDA_ERROR_NOT_READY && gmod_may_call(b->context) && gmod_nap(&deadline, nap)) {
		nap = nap < MOST_NAP ? 2 * nap : nap;
		r = NEXT(cuEventQuery)(b->held->gathered);
	}
	return r;
}

static bool has_what_it_takes(struct batch *b)
{
	struct gmod_gathering *h = b->held;

	if (!h->gathered && NEXT(cuEventCreate)(&h->gathered, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
		h->gathered = NULL;
		gmod_degraded("cuEventCreate");
	}
	b->staging = gmod_pinned(b->context, &b->context->staging);
	return h->gathered && b->staging;
}

/* What an earlier context had went with it. */
static struct gmod_gathering *held_in(struct gmod_context *c)
{
	unsigned life = gmod_context_life(c);

	if (c->gathering.life != life)
		c->gathering = (struct gmod_gathering){.life = life};
	return &c->gathering;
}

/*
 * Copies may still land in the staging memory: nothing more until they have. On a device that other processes use as
 * well they take their time; what is looked at now and then is looked at later then, and nothing is lost.
 */
static void note_overdue(struct batch *b, CUresult r)
{
	b->held->overdue = true;
	b->failed = true;
	if (gmod_may_call(b->context) && (b->what == GMOD_GATHER_WHOLE || r != CUDA_ERROR_NOT_READY))
		gmod_degraded("gather");
}

/* Before the stamp of what is seen intact: what is proven complete by now was not the one. */
static void begin_look(struct batch *b)
{
	gmod_proof_remember();
	b->began = gmod_now();
}

static void prepare(struct batch *b, struct gmod_context *c)
{
	CUresult r = CUDA_SUCCESS;

	b->context = c;
	b->held = held_in(c);
	b->count = 0;
	b->used = 0;
	b->failed = b->refused = false;
	if (b->held->overdue)
		r = wait_for_copies(b);
	b->held->overdue = false;
	if (r != CUDA_SUCCESS)
		note_overdue(b, r);
	else
		b->failed = !c->stream || !has_what_it_takes(b);
	begin_look(b);
}

static void compare(const struct batch *b, const struct piece *p)
{
	uint64_t word;

	gmod_pin(GMOD_PIN_SWEEP, p->record->position);
	word = gmod_record_live(p->record);
	if (word == p->word)
		gmod_verify_copied(p->record, word, p->side, (struct gmod_range){p->from, p->to}, b->staging + p->at,
				   b->began, gmod_sweep_latest());
	gmod_unpin(GMOD_PIN_SWEEP);
}

static void flush(struct batch *b)
{
	CUresult r = CUDA_SUCCESS;

	if (!b->count)
		return;
	if (gmod_may_call(b->context))
		r = NEXT(cuEventRecord)(b->held->gathered, b->context->stream);
	if (r == CUDA_SUCCESS && gmod_may_call(b->context))
		r = wait_for_copies(b);
	if (r != CUDA_SUCCESS) {
		note_overdue(b, r);
	} else if (!gmod_may_call(b->context)) {
		b->failed = true;
	} else if (gmod_sweep_lock(1000000000)) {
		struct gmod_busy busy = gmod_busy_begin();

		if (busy.on)
			for (unsigned i = 0; i < b->count; i++)
				compare(b, &b->piece[i]);
		gmod_busy_end(busy);
		gmod_sweep_unlock();
	}
	b->count = 0;
	b->used = 0;
	begin_look(b);
}

static void add_piece(struct batch *b, struct gmod_record *r, uint64_t word, enum gmod_side side,
		      struct gmod_range slack)
{
	if (slack.from >= slack.to)
		return;
	b->piece[b->count++] = (struct piece){r, word, side, slack.from, slack.to, b->used};
	b->used += slack.to - slack.from;
}

static void add_slack(struct batch *b, struct gmod_record *r)
{
	struct gmod_bounds bounds;
	uint64_t word = gmod_record_snapshot(r, &bounds);

	/* In this order: details are a miss of every cache, and most buffers may have no slack. */
	if (!word || !gmod_has_slack(&bounds) ||
	    atomic_load_explicit(&gmod_record_details(r)->context, memory_order_relaxed) != b->context)
		return;
	for (int side = GMOD_HEAD; side <= GMOD_TAIL; side++)
		add_piece(b, r, word, (enum gmod_side)side,
			  b->what == GMOD_GATHER_NEAR ? gmod_near_slack(&bounds, (enum gmod_side)side)
						      : gmod_whole_slack(&bounds, (enum gmod_side)side));
}

static CUdeviceptr staged_at(const struct batch *b, const struct piece *p)
{
	return (CUdeviceptr)(uintptr_t)b->staging + p->at;
}

/* All in one call: for each the driver's lock has to be had, perhaps from a thread that waits for the device with it.
 */
static CUresult copy_together(const struct batch *b, const struct piece *p, unsigned count)
{
	CUmemcpyAttributes in_order = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	/* Under the lock, as a thread may have a small stack. */
	static CUdeviceptr to[PIECES], from[PIECES];
	static size_t bytes[PIECES];
	size_t first = 0, failed;

	for (unsigned i = 0; i < count; i++) {
		to[i] = staged_at(b, &p[i]);
		from[i] = p[i].from;
		bytes[i] = p[i].to - p[i].from;
	}
	if (HAVE(cuMemcpyBatchAsync_v2))
		return NEXT(cuMemcpyBatchAsync_v2)(to, from, bytes, count, &in_order, &first, 1, b->context->stream);
	if (HAVE(cuMemcpyBatchAsync))
		return NEXT(cuMemcpyBatchAsync)(to, from, bytes, count, &in_order, &first, 1, &failed,
						b->context->stream);
	return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult copy_singly(const struct batch *b, const struct piece *p, unsigned count)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; i < count && r == CUDA_SUCCESS && gmod_may_call(b->context); i++)
		r = NEXT(cuMemcpyDtoHAsync_v2)((void *)(uintptr_t)staged_at(b, &p[i]), p[i].from, p[i].to - p[i].from,
					       b->context->stream);
	return r;
}

/* Before 12.8 it cannot. Other errors are this context's, or of this moment. */
static bool never_copies_together(CUresult r)
{
	return r == CUDA_ERROR_NOT_SUPPORTED || r == CUDA_ERROR_NOT_FOUND || r == CUDA_ERROR_NOT_INITIALIZED ||
	       r == CUDA_ERROR_INVALID_VALUE;
}

static bool copy_pieces(const struct batch *b, const struct piece *p, unsigned count)
{
	static bool only_singly; /* under the lock */
	CUresult r;

	if (!gmod_may_call(b->context))
		return false;
	if (count > 1 && !only_singly) {
		r = copy_together(b, p, count);
		if (r == CUDA_SUCCESS)
			return true;
		only_singly = never_copies_together(r) && gmod_may_call(b->context);
	}
	r = copy_singly(b, p, count);
	if (r != CUDA_SUCCESS && gmod_may_call(b->context))
		gmod_degraded("cuMemcpyDtoHAsync");
	return r == CUDA_SUCCESS && gmod_may_call(b->context);
}

/*
 * The slack of the records of a pin. While it is held, a free of such a buffer has not begun, and once it begins it
 * waits for this copy like for any other work. Handing the driver an address that is being freed would not do: it takes
 * an address it does not know for pageable host memory and reads it with the CPU (seen as a crash, on driver 580).
 */
static void copy_slack(struct batch *b, uint32_t first, uint32_t end)
{
	unsigned before = b->count;
	size_t used = b->used;

	gmod_pin(GMOD_PIN_GATHER, first);
	for (uint32_t i = first; i < end; i++)
		add_slack(b, gmod_record_at(i));
	if (b->count > before && !copy_pieces(b, &b->piece[before], b->count - before)) {
		b->count = before;
		b->used = used;
		b->refused = true;
	}
	gmod_unpin(GMOD_PIN_GATHER);
}

/* How many records one call takes: those of a pin, or as many as all of their slack has room for. */
static uint32_t at_once(const struct batch *b)
{
	return b->what == GMOD_GATHER_NEAR ? GMOD_GATHERED : GMOD_BATCH;
}

static bool has_room(const struct batch *b)
{
	size_t each = b->what == GMOD_GATHER_NEAR ? GMOD_LINE + GMOD_NEAR_SLACK : sizeof(struct gmod_slack);

	return b->count + 2 * at_once(b) <= PIECES && b->used + at_once(b) * each <= GMOD_STAGING;
}

static void step(struct batch *b, uint32_t first, uint32_t end)
{
	copy_slack(b, first, end);
	if (!has_room(b))
		flush(b);
	gmod_monitor_progress();
}

static void gather_wanted(struct batch *b)
{
	uint32_t end = gmod_registry_used(), each = at_once(b);

	if (b->named)
		for (unsigned i = 0; i < b->named_count && !b->failed && gmod_may_call(b->context); i++)
			step(b, b->named[i], b->named[i] + 1);
	else
		for (uint32_t i = 0; i < end && !b->failed && gmod_may_call(b->context); i += each)
			step(b, i, i + each < end ? i + each : end);
	flush(b);
}

/* false: not all of it was looked at. */
static bool gather_in(struct batch *b, struct gmod_context *c)
{
	if (!gmod_context_enter(c))
		return false;
	prepare(b, c);
	gather_wanted(b);
	gmod_context_leave(c);
	return !b->failed && !b->refused;
}

static bool take_lock(enum gmod_gather what)
{
	struct timespec until = gmod_time_in(what == GMOD_GATHER_WHOLE ? GMOD_SECONDS(2) : 0);

	return pthread_mutex_timedlock(&lock, &until) == 0;
}

static bool gather(struct batch *b, const struct gmod_context *only)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool done = true;

	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct gmod_context *c = gmod_context_at(i);

		if ((!only || only == c) && gmod_may_call(c) && c->stream)
			done = gather_in(b, c) && done;
	}
	gmod_relaxed_end(mode);
	return done;
}

static bool gather_locked(const struct gmod_context *only, enum gmod_gather what, const uint32_t *named, unsigned count)
{
	static struct batch b; /* too large for a stack; under the lock */
	struct gmod_registry_stats stats;
	struct gmod_scope scope;
	bool done = false;

	gmod_registry_stats(&stats);
	if (!stats.live_slack)
		return true;
	/* A thread that is cancelled in here, or whose signal handler jumps, would keep the lock and the context's pin.
	 */
	gmod_scope_begin(&scope);
	if (take_lock(what)) {
		b.what = what;
		b.named = named;
		b.named_count = count;
		done = gather(&b, only);
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
