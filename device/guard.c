#include "device/guard.h"

#include <pthread.h>
#include <string.h>

#include "device/findings.h"
#include "device/heaps.h"
#include "device/units.h"
#include "lib/hold.h"
#include "lib/patience.h"
#include "lib/start.h"
#include "monitor/activity.h"
#include "monitor/postmortem.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over the heaps' passes and rings */

/* ---- one heap, whose context is entered and current ---- */

static bool is_complete(struct gmod_heap *h)
{
	if (h->under_way && NEXT(cuEventQuery)(h->passed) == CUDA_SUCCESS) {
		h->under_way = false;
		gmod_findings_take(h);
		h->intact = h->began;
	}
	return !h->under_way;
}

/* What may happen later is noted before the pass begins, so that it makes another one due. */
static void launch(const struct gmod_context *c, struct gmod_heap *h)
{
	uint64_t header = h->header;
	uint32_t none = 0;
	void *arguments[] = {&header, &none, &none};

	h->activity = gmod_activity_total();
	if (gmod_work_outstanding())
		h->passes_owed = gmod_options()->device_free_delay + 1;
	else if (h->passes_owed)
		h->passes_owed--;
	h->passed_ns = gmod_monotonic_ns();
	h->began = gmod_now();
	if (!gmod_units_launch_guard(c, h->stream, h->layout.arrays, arguments))
		return;
	if (NEXT(cuEventRecord)(h->passed, h->stream) == CUDA_SUCCESS)
		h->under_way = true;
	else
		gmod_degraded("cuEventRecord");
}

static bool is_due(struct gmod_heap *h)
{
	return is_complete(h) && (h->passes_owed || h->activity != gmod_activity_total()) &&
	       gmod_monotonic_ns() - h->passed_ns >= gmod_options()->device_guard_us * 1000;
}

static void tick(const struct gmod_context *c, struct gmod_heap *h)
{
	if (is_due(h)) {
		if (h->activity != gmod_activity_total())
			h->passes_owed = gmod_options()->device_free_delay + 1;
		launch(c, h);
	}
	gmod_findings_take(h);
}

/* A pass that began before the call may have passed by what matters. */
static bool check(const struct gmod_context *c, struct gmod_heap *h, uint64_t *patience)
{
	for (uint32_t i = 0; i < 2 + gmod_options()->device_free_delay; i++) {
		while (!is_complete(h))
			if (!gmod_nap(patience, GMOD_MILLISECONDS(1) / 10) || !gmod_context_is_alive(c))
				return false;
		gmod_findings_take(h);
		if (i <= gmod_options()->device_free_delay)
			launch(c, h);
	}
	return true;
}

/* ---- all of them ---- */

struct visit {
	struct gmod_context *context;
	struct gmod_heap *heap; /* NULL: there is none, or it cannot be used */
	bool pushed;
};

static struct visit enter(unsigned i)
{
	struct visit v = {gmod_context_at(i), NULL, false};

	if (atomic_load_explicit(&v.context->state, memory_order_acquire) != GMOD_CONTEXT_ALIVE ||
	    !atomic_load_explicit(&v.context->heap, memory_order_relaxed) || !gmod_context_enter(v.context))
		return v;
	v.pushed =
	    NEXT(cuCtxPushCurrent_v2)(atomic_load_explicit(&v.context->handle, memory_order_relaxed)) == CUDA_SUCCESS;
	if (v.pushed)
		v.heap = atomic_load_explicit(&v.context->heap, memory_order_acquire);
	else
		gmod_context_leave(v.context);
	return v;
}

static void leave(const struct visit *v)
{
	CUcontext popped;

	if (!v->pushed)
		return;
	if (NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
		gmod_degraded("cuCtxPopCurrent");
	gmod_context_leave(v->context);
}

static bool may(void)
{
	return atomic_load_explicit(&gmod_hot.units, memory_order_relaxed) && gmod_on() && !gmod_is_post_mortem();
}

static bool all(bool wait, uint64_t patience)
{
	CUstreamCaptureMode before = gmod_relaxed_begin();
	bool done = true;

	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct visit v = enter(i);

		if (v.heap && wait)
			done &= check(v.context, v.heap, &patience);
		else if (v.heap)
			tick(v.context, v.heap);
		leave(&v);
	}
	gmod_relaxed_end(before);
	return done;
}

void gmod_guard_tick(void)
{
	if (!may() || pthread_mutex_trylock(&lock))
		return;
	all(false, 0);
	pthread_mutex_unlock(&lock);
}

bool gmod_guard_check(uint64_t patience)
{
	struct gmod_hold hold;
	bool done;

	if (!may())
		return true;
	gmod_hold(&hold);
	pthread_mutex_lock(&lock);
	done = all(true, patience);
	pthread_mutex_unlock(&lock);
	gmod_let_go(&hold);
	return done;
}

bool gmod_guard_pending(void)
{
	if (!may())
		return false;
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct visit v = enter(i);
		bool pending =
		    v.heap && (v.heap->under_way || v.heap->passes_owed || v.heap->activity != gmod_activity_total());

		leave(&v);
		if (pending)
			return true;
	}
	return false;
}
