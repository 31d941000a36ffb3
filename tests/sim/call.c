/* The prologue and the epilogue of every entry point, and the one lock. */
#include "sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sim_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

pthread_mutex_t *sim_the_lock(void)
{
	return &lock;
}

static CUresult why_not_ready(unsigned needs)
{
	if (!(needs & (NEEDS_INIT | NEEDS_CONTEXT | USES_CONTEXT)))
		return CUDA_SUCCESS;
	if (sim.state == SIM_TORN_DOWN)
		return CUDA_ERROR_DEINITIALIZED;
	return sim.state == SIM_READY ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

static CUresult why_no_context(CUcontext ctx)
{
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!context_ok(ctx))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return ctx->sticky;
}

static CUresult why_refused(struct call *call, unsigned needs)
{
	CUresult r = why_not_ready(needs);

	if (r)
		return r;
	if (sim_in_host_function && (needs & (NEEDS_CONTEXT | USES_CONTEXT)))
		return CUDA_ERROR_NOT_PERMITTED;
	if (needs & (NEEDS_CONTEXT | USES_CONTEXT))
		call->ctx = context_current();
	if (call->ctx || (needs & NEEDS_CONTEXT))
		r = why_no_context(call->ctx);
	if (!r && (needs & UNSAFE_IN_CAPTURE))
		r = capture_check_unsafe();
	return r;
}

struct call sim_enter(const char *symbol, unsigned needs, bool per_thread, const void *caller)
{
	struct call call = {.symbol = symbol, .caller = caller, .per_thread = per_thread};

	/* The lock of a forked child may be held by a thread that was not copied. */
	if (sim_forked) {
		call.refused = needs == NEEDS_NOTHING ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
		return call;
	}
	if (sim_watched) {
		call.refused = inject_failure(symbol);
		inject_stall(symbol);
	}
	sim_lock();
	if (sim_watched)
		inject_signal(symbol);
	if (!call.refused)
		call.refused = why_refused(&call, needs);
	return call;
}

CUresult sim_leave(const struct call *call, CUresult result)
{
	if (!sim_forked)
		sim_unlock();
	if (sim_watched)
		trace_call(call, result);
	return result;
}
