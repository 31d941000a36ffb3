#include "lib/context/fault.h"

#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/driver/errors.h"
#include "monitor/launches/activity.h"

/* A late store's dump came 40 to 150 ms behind the wait. Kernels may fill the device for as long as they like. */
#define FILL_PATIENCE GMOD_MILLISECONDS(500)
#define PATIENCE GMOD_SECONDS(2)

/* Inside the context: has all that was launched there ended, and well? */
static bool has_ended_well(struct gmod_context *c, uint64_t *deadline)
{
	CUresult r;

	if (atomic_load_explicit(&c->filled.life, memory_order_acquire) != gmod_context_life(c) ||
	    NEXT(cuMemsetD32Async)(atomic_load_explicit(&c->filled.at, memory_order_relaxed), 0, 1, c->stream) !=
		CUDA_SUCCESS)
		return false;
	while ((r = NEXT(cuStreamQuery)(c->stream)) == CUDA_ERROR_NOT_READY && gmod_keeper_is_ready() &&
	       gmod_may_call(c) && gmod_nap(deadline, GMOD_MILLISECONDS(1) / 50))
		;
	return r == CUDA_SUCCESS;
}

/* One behind the other: a wait for one that is busy ends, too, when the dump of another one's fault begins. */
static void probe(CUcontext only, uint64_t now)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	uint64_t deadline = FILL_PATIENCE;

	for (unsigned i = 0; i < GMOD_CONTEXTS && gmod_keeper_is_ready(); i++) {
		struct gmod_context *c = gmod_context_at(i);

		if ((only && atomic_load_explicit(&c->handle, memory_order_relaxed) != only) ||
		    atomic_load_explicit(&c->probed, memory_order_relaxed) == now || !gmod_context_enter(c))
			continue;
		if (has_ended_well(c, &deadline))
			atomic_store_explicit(&c->probed, now, memory_order_relaxed);
		gmod_context_leave(c);
	}
	gmod_relaxed_end(mode);
}

/* The dump says nothing, and the program may end before it learns of the fault: then there is the post-mortem. */
static void tell_what_is_known(void)
{
	uint64_t deadline = PATIENCE;
	CUresult r;

	while ((r = gmod_context_error()) == CUDA_SUCCESS && gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
	if (r != CUDA_SUCCESS)
		gmod_context_broke(r, "the end");
}

void gmod_fault_probe(CUcontext only)
{
	struct gmod_cancel cancel;

	if (!gmod_on() || !(gmod_keeper_is_ready() || gmod_has_faulted()))
		return;
	cancel = gmod_cancel_begin();
	if (gmod_keeper_is_ready())
		probe(only, gmod_activity_total());
	/* The dump is whole when a fill is done; the keeper may not have run since. */
	if (gmod_keeper_has_dump() && !gmod_keeper_await(PATIENCE) && gmod_fault_is_unseen())
		tell_what_is_known();
	gmod_keeper_let_go();
	gmod_cancel_end(cancel);
}

static void before_the_end(struct gmod_context *c)
{
	(void)c;
	gmod_fault_probe(NULL);
}

const struct gmod_context_listener gmod_faults_of_context = {.on = {[GMOD_CONTEXT_BEFORE] = before_the_end}};

/* In the current context, which may have no entry. */
static CUresult ask_here(void)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	CUresult r = NEXT(cuStreamQuery)(CU_STREAM_LEGACY);

	gmod_relaxed_end(mode);
	return gmod_is_sticky(r) ? r : CUDA_SUCCESS;
}

CUresult gmod_fault_late(void)
{
	static atomic_bool settled; /* the error is there, or does not come */
	uint64_t deadline = PATIENCE;
	struct gmod_cancel cancel;
	bool there;
	CUresult r;

	if (!gmod_on() || atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed) ||
	    atomic_load_explicit(&settled, memory_order_relaxed))
		return CUDA_SUCCESS;
	cancel = gmod_cancel_begin();
	gmod_keeper_await(0);
	do
		r = ask_here();
	while (!(there = r || gmod_context_error() || gmod_context_was_told()) &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1)));
	if (gmod_first_time(&settled) && !there)
		gmod_log_note(0, "a kernel has faulted, and the driver has not said so for 2 s: results may be wrong");
	gmod_cancel_end(cancel);
	return r;
}

bool gmod_fault_is_unseen(void)
{
	return gmod_has_faulted() && !gmod_context_was_told();
}
