#include "lib/context/fault.h"

#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/context/wait.h"
#include "lib/driver/errors.h"
#include "monitor/launches/activity.h"

#define PATIENCE GMOD_SECONDS(2)

/* Inside the context. */
static void await_a_fill(struct gmod_context *c)
{
	uint64_t deadline = PATIENCE;
	CUdeviceptr tiny = c->stream ? gmod_context_buffer(c, &c->filled) : 0;
	if (!tiny || NEXT(cuMemsetD32Async)(tiny, 0, 1, c->stream) != CUDA_SUCCESS)
		return;
	while (gmod_keeper_is_ready() && gmod_may_call(c) && NEXT(cuStreamQuery)(c->stream) == CUDA_ERROR_NOT_READY &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 50))
		;
}

void gmod_fault_probe(void)
{
	static _Atomic uint64_t probed; /* what had been launched then */
	CUstreamCaptureMode mode;
	uint64_t now;

	if (gmod_keeper_is_ready()) {
		now = gmod_activity_total();
		if (atomic_load_explicit(&probed, memory_order_relaxed) == now)
			return;
		mode = gmod_relaxed_begin();
		for (unsigned i = 0; i < GMOD_CONTEXTS && gmod_keeper_is_ready(); i++)
			if (gmod_context_enter(gmod_context_at(i))) {
				await_a_fill(gmod_context_at(i));
				gmod_context_leave(gmod_context_at(i));
			}
		gmod_relaxed_end(mode);
		/* Not before: a second thread that ends something meanwhile has to wait, too. */
		atomic_store_explicit(&probed, now, memory_order_relaxed);
	}
	/* The dump is whole when the fill is done; the keeper may not have run since. */
	if (gmod_keeper_has_dump())
		gmod_keeper_await(PATIENCE);
}

static void before_the_end(struct gmod_context *c)
{
	(void)c;
	gmod_fault_probe();
}

const struct gmod_context_listener gmod_faults_of_context = {.on = {[GMOD_CONTEXT_BEFORE] = before_the_end}};

static atomic_bool settled; /* the error is there, or does not come */

CUresult gmod_fault_late(void)
{
	uint64_t deadline = PATIENCE;
	CUstreamCaptureMode mode;
	CUresult r;

	if (!gmod_on() || atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed) ||
	    atomic_load_explicit(&settled, memory_order_relaxed))
		return CUDA_SUCCESS;
	gmod_keeper_await(0);
	while (!gmod_context_any_broken(true) && gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
	if (gmod_first_time(&settled) && !deadline)
		gmod_log_note(0, "a kernel has faulted, and the driver has not said so for 2 s: results may be wrong");
	mode = gmod_relaxed_begin();
	r = NEXT(cuStreamQuery)(CU_STREAM_LEGACY);
	gmod_relaxed_end(mode);
	return gmod_is_sticky(r) ? r : CUDA_SUCCESS;
}

bool gmod_fault_is_unseen(void)
{
	return gmod_has_faulted() && !gmod_context_any_broken(false);
}
