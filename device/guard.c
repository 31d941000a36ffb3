#include "device/guard.h"

#include <pthread.h>

#include "device/findings.h"
#include "device/heaps.h"
#include "device/stats.h"
#include "device/units.h"
#include "lib/base/scope.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over the heaps' passes and rings */

#define EAGER (GMOD_MILLISECONDS(1) / 5) /* before we sleep between two looks */

/* ---- one heap, whose context is entered and current; under the lock ---- */

/* A pass may have had more to say than there was room for: a buffer is reported by a later one then. */
static bool filled_the_ring(const struct gmod_heap *h)
{
	return h->taken - h->taken_before >= GMOD_RING_SLOTS;
}

static bool is_complete(struct gmod_heap *h)
{
	if (h->under_way && NEXT(cuEventQuery)(h->passed) == CUDA_SUCCESS) {
		h->under_way = false;
		gmod_findings_take(h);
		if (filled_the_ring(h))
			h->owed = true;
		else
			h->intact = h->began;
	}
	return !h->under_way;
}

static uint64_t interval(void)
{
	return (uint64_t)gmod_options()->device_guard_us * 1000;
}

static bool is_wanted(const struct gmod_heap *h)
{
	return h->owed || h->activity != gmod_activity_total();
}

static bool is_due(struct gmod_heap *h)
{
	return is_complete(h) && !h->stopped && is_wanted(h) && gmod_monotonic_ns() - h->launched_ns >= interval();
}

/* What may happen later is noted before the pass begins, so that it makes another one due. */
static void note_launch(struct gmod_heap *h)
{
	h->activity = gmod_activity_total();
	h->owed = gmod_work_outstanding();
	h->launched_ns = gmod_monotonic_ns();
	h->began = gmod_now();
	h->taken_before = h->taken;
}

/* false: nothing has been launched, because there is no guard kernel any more, or the driver refuses. */
static bool launch(struct gmod_heap *h, unsigned unit)
{
	unsigned warps = GMOD_GUARD_THREADS / 32, blocks = (h->layout.guards + warps - 1) / warps;

	note_launch(h);
	if (!gmod_units_launch_guard(h->context, unit, h->passes, blocks))
		return false;
	if (NEXT(cuEventRecord)(h->passed, h->passes) != CUDA_SUCCESS) {
		gmod_degraded("cuEventRecord");
		return false;
	}
	h->under_way = true;
	return true;
}

static bool settle(struct gmod_heap *h, uint64_t *deadline)
{
	uint64_t began = gmod_monotonic_ns();

	while (!is_complete(h)) {
		if (!*deadline || !gmod_may_call(h->context))
			return false;
		/* A pass takes some 10 us where there is room for it, and a nap 60. */
		if (gmod_monotonic_ns() - began > EAGER)
			gmod_nap(deadline, GMOD_MILLISECONDS(1) / 10);
	}
	gmod_findings_take(h);
	return true;
}

/* Is what the passes have found all here? */
static bool has_all(const struct gmod_heap *h)
{
	return !filled_the_ring(h) && !h->stuck_ns;
}

/* A pass that began before the call may have passed by what matters. */
static bool check(struct gmod_heap *h, uint64_t *deadline)
{
	uint64_t began = gmod_monotonic_ns();
	bool passed;

	do
		passed = settle(h, deadline) && launch(h, GMOD_NO_UNIT) && settle(h, deadline);
	while (passed && !has_all(h) && gmod_monotonic_ns() - began < GMOD_SECONDS(1) &&
	       (!h->stuck_ns || gmod_nap(deadline, GMOD_MILLISECONDS(1))));
	return passed && has_all(h);
}

/* ---- all of them ---- */

/* With each heap, or that of only one context, which is entered and current; returns how many. Under the lock. */
static unsigned visit(const struct gmod_context *only, void (*look)(struct gmod_heap *h, void *arg), void *arg)
{
	CUstreamCaptureMode before = gmod_relaxed_begin();
	unsigned visited = 0;

	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct gmod_context *c = gmod_context_at(i);
		struct gmod_heap *h;

		if ((only && c != only) || !gmod_heap_of(c) || !gmod_context_enter(c))
			continue;
		h = gmod_heap_of(c);
		if (h)
			look(h, arg);
		visited += h != NULL;
		gmod_context_leave(c);
	}
	gmod_relaxed_end(before);
	return visited;
}

static atomic_bool busy; /* at the latest tick: another one is due before long */

static void tick_one(struct gmod_heap *h, void *any_busy)
{
	if (is_due(h))
		launch(h, GMOD_NO_UNIT);
	gmod_findings_take(h);
	*(bool *)any_busy |= h->under_way || h->stuck_ns || (h->stopped ? gmod_work_outstanding() : is_wanted(h));
}

void gmod_guard_tick(void)
{
	bool any = false, possible = gmod_on() && gmod_units_exist();

	if (possible && pthread_mutex_trylock(&lock)) {
		any = true;
	} else if (possible) {
		visit(NULL, tick_one, &any);
		pthread_mutex_unlock(&lock);
	}
	atomic_store_explicit(&busy, any, memory_order_relaxed);
}

uint64_t gmod_guard_patience(void)
{
	return gmod_units_exist() ? GMOD_GUARD_PAUSE_MAX : UINT64_MAX;
}

uint64_t gmod_guard_leisure(void)
{
	if (!atomic_load_explicit(&busy, memory_order_relaxed))
		return UINT64_MAX;
	return interval();
}

/* A heap stays when its units have been unloaded. */
static bool heaps_exist(void)
{
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++)
		if (gmod_heap_of(gmod_context_at(i)))
			return true;
	return false;
}

/* Whoever has the lock may be in a driver call that waits for what the caller is about to launch. */
static enum gmod_status visit_patiently(const struct gmod_context *only, uint64_t deadline,
					void (*look)(struct gmod_heap *h, void *arg), void *arg)
{
	struct timespec until = gmod_time_in(deadline);
	enum gmod_status status = GMOD_BUSY;
	struct gmod_scope scope;

	if (!heaps_exist())
		return GMOD_NO_HEAP;
	gmod_scope_begin(&scope);
	if (pthread_mutex_timedlock(&lock, &until) == 0) {
		status = visit(only, look, arg) ? GMOD_OK : GMOD_NO_HEAP;
		pthread_mutex_unlock(&lock);
	}
	gmod_scope_end(&scope);
	return status;
}

enum gmod_status gmod_guard_visit(const struct gmod_context *c, void (*look)(struct gmod_heap *h, void *arg), void *arg)
{
	return c ? visit_patiently(c, GMOD_SECONDS(2), look, arg) : GMOD_NO_HEAP;
}

struct waiting {
	bool (*await)(struct gmod_heap *h, uint64_t *deadline);
	uint64_t deadline;
	bool failed;
};

static void await_one(struct gmod_heap *h, void *arg)
{
	struct waiting *w = arg;

	w->failed |= !w->await(h, &w->deadline);
}

static bool await_all(const struct gmod_context *only, struct waiting w)
{
	return !gmod_on() || (visit_patiently(only, w.deadline, await_one, &w) != GMOD_BUSY && !w.failed);
}

bool gmod_guard_check(const struct gmod_context *only, uint64_t deadline)
{
	return !gmod_units_exist() || await_all(only, (struct waiting){check, deadline, false});
}

bool gmod_guard_settle(const struct gmod_context *only, uint64_t deadline)
{
	return await_all(only, (struct waiting){settle, deadline, false});
}

static void update_stats(struct gmod_heap *h, void *unused)
{
	(void)unused;
	gmod_heap_update_stats(h);
}

void gmod_guard_update_stats(const struct gmod_context *only)
{
	if (gmod_on())
		visit_patiently(only, GMOD_SECONDS(1), update_stats, NULL);
}

static void begin(struct gmod_heap *h, void *unused)
{
	unsigned i = 0;

	(void)unused;
	while ((i = gmod_units_begun(h->context, i)) != GMOD_NO_UNIT)
		launch(h, i++);
}

void gmod_guard_begin(struct gmod_context *c)
{
	if (gmod_guard_visit(c, begin, NULL) == GMOD_BUSY)
		gmod_degraded("the first guard pass");
}
