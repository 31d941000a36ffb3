#include "device/loading.h"

#include "device/guard.h"
#include "device/heaps.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/context/wait.h"

static bool wanted(void)
{
	return gmod_on() && gmod_options()->device_heap != GMOD_OPTION_HEAP_OFF;
}

/* Kernels as nvcc and NVRTC spell them. */
#define UNIT "_Z9gmod_unitILj0EEvv"
#define GUARD_OF(layout) "_Z15gmod_unit_guardILj" #layout "EEvv"
#define GUARD(layout) GUARD_OF(layout)

/* It becomes the unit's guard kernel if it is there. */
static CUresult get(struct gmod_unit *u, const char *name)
{
	return u->is_library ? NEXT(cuLibraryGetKernel)((CUkernel *)&u->guard, u->handle, name)
			     : NEXT(cuModuleGetFunction)((CUfunction *)&u->guard, u->handle, name);
}

static void say_other(void)
{
	static atomic_bool said;

	if (gmod_degraded_first(&said))
		gmod_log_note(0, "a module was compiled with the gmod_device.cuh of another version: its mallocN and "
				 "freeN are CUDA's own, unguarded; compile it with this version's");
}

/*
 * Most modules are no units; anything else that goes wrong is said. A question takes the driver some 5 us (measured on
 * an H100), and a framework loads hundreds of modules, so there is one for each.
 */
static bool find_guard(struct gmod_unit *u)
{
	CUstreamCaptureMode before = gmod_relaxed_begin();
	CUresult r = get(u, UNIT);

	if (r == CUDA_SUCCESS) {
		r = get(u, GUARD(GMOD_DEVICE_LAYOUT));
		if (r == CUDA_ERROR_NOT_FOUND)
			say_other();
	}
	gmod_relaxed_end(before);
	/* A module without code for this GPU has none of ours either. */
	if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_FOUND && r != CUDA_ERROR_NO_BINARY_FOR_GPU)
		gmod_degraded("looking for a unit's guard kernel");
	return r == CUDA_SUCCESS;
}

/* The context gets its entry now: a graph that is launched in another one may be the first to use the module. */
void gmod_unit_loaded(void *handle, bool is_library)
{
	struct gmod_unit u = {.handle = handle, .is_library = is_library};
	struct gmod_context *c = NULL;

	if (!wanted() || !find_guard(&u) || (!is_library && !(c = gmod_context_current())))
		return;
	if (c)
		u.context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	gmod_units_add(u);
}

/*
 * Unloading a module waits for all work of its context, and so does freeing memory, which captures let pass in relaxed
 * mode (both measured on driver 580; cuCtxSynchronize ends them). What kernels do until then is there for the last
 * pass. Unloading a library waits for its own kernels alone, which nothing else does: the last pass does not wait.
 */
static void await_work(struct gmod_context *c)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	bool visited = gmod_context_visit_begin(c);

	gmod_context_wait(c);
	gmod_context_visit_end(visited);
	gmod_cancel_end(cancel);
}

struct gmod_unit gmod_unit_unload(const void *handle)
{
	struct gmod_unit u = {0};
	struct gmod_context *c;

	/* In a forked child the lock may be held by a thread that is not there. */
	if (gmod_phase() == GMOD_OFF || !gmod_units_exist() || !handle)
		return u;
	u = gmod_unit_of(handle);
	if (!u.handle)
		return u;
	c = u.is_library ? NULL : gmod_context_of(u.context);
	if (c && gmod_heap_of(c))
		await_work(c);
	if (!gmod_guard_check(c, GMOD_SECONDS(1)))
		gmod_degraded("a guard pass before a module is unloaded");
	gmod_units_forget(handle);
	if (!gmod_guard_settle(c, GMOD_SECONDS(5)))
		gmod_degraded("waiting for the guard before a module is unloaded");
	return u;
}

void gmod_unit_stays(const struct gmod_unit *u)
{
	if (u->handle && gmod_phase() != GMOD_OFF)
		gmod_units_add(*u);
}

static CUresult find_variable(const struct gmod_unit *u, CUdeviceptr *at)
{
	size_t size = 0;
	CUmodule module = u->handle;
	CUresult r = u->is_library ? NEXT(cuLibraryGetModule)(&module, u->handle) : CUDA_SUCCESS;

	if (r == CUDA_SUCCESS)
		r = NEXT(cuModuleGetGlobal_v2)(at, &size, module, "gmod_unit_heap");
	return r == CUDA_SUCCESS && size != sizeof(struct gmod_device_heap) ? CUDA_ERROR_INVALID_VALUE : r;
}

struct filling {
	struct gmod_context *context;
	struct gmod_heap *heap; /* NULL: not made yet, or it cannot be */
	bool tried;
};

static bool fill(const struct gmod_unit *u, void *arg)
{
	struct filling *f = arg;
	CUdeviceptr at;
	bool told;

	if (!f->tried)
		f->heap = gmod_heap_here(f->context);
	f->tried = true;
	told = f->heap && find_variable(u, &at) == CUDA_SUCCESS &&
	       gmod_heap_write(f->heap, at, &f->heap->told, sizeof(f->heap->told));
	if (f->heap && !told)
		gmod_degraded("telling a unit of the device heap");
	return told;
}

/*
 * Units are ready when their guard kernel has been launched, so that nobody can launch a kernel of theirs before that:
 * two threads that come at the same time both fill and launch. A unit that cannot be filled is not tried again. Where
 * units have come or gone meanwhile, a place may be another one's: then none is ready, and the next launch sees to it.
 */
static void prepare(struct gmod_context *c, uint64_t state)
{
	CUstreamCaptureMode before = gmod_relaxed_begin();
	struct filling f = {.context = c};
	unsigned filled = gmod_units_fill_missing(c, fill, &f);

	gmod_relaxed_end(before);
	if (filled)
		gmod_guard_begin(c);
	gmod_units_filled(c, state);
}

/* false: not now. Launches that alternate between contexts come here each time. */
static bool prepare_once(struct gmod_context *c, uint64_t state)
{
	_Atomic uint64_t *seen = &c->units;

	if (atomic_load_explicit(seen, memory_order_acquire) == state)
		return true;
	if (!gmod_context_enter(c))
		return false;
	prepare(c, state);
	/* release: what was prepared is for who sees it */
	atomic_store_explicit(seen, state, memory_order_release);
	gmod_context_leave(c);
	return true;
}

void gmod_units_fill(uint64_t state, uint64_t context)
{
	/* What this thread has seen filled: everything of that state in that context. */
	static __thread struct {
		uint64_t state, context;
	} seen __attribute__((tls_model("initial-exec")));
	struct gmod_context *c;

	if (seen.state == state && seen.context == context)
		return;
	c = gmod_context_current();
	if (!c || !prepare_once(c, state))
		return;
	seen.state = state;
	seen.context = context;
}

void gmod_units_fill_all(uint64_t state)
{
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct gmod_context *c = gmod_context_at(i);

		if (atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_ALIVE)
			prepare_once(c, state);
	}
}

/* ---- the end of a context ---- */

static void look_once_more(struct gmod_context *c)
{
	gmod_guard_check(c, GMOD_SECONDS(1));
	gmod_guard_update_stats(c);
}

static void forget(struct gmod_context *c)
{
	atomic_store_explicit(&c->units, 0, memory_order_relaxed);
	gmod_units_forget_context(c);
	gmod_heap_gone(c);
}

const struct gmod_context_listener gmod_device_of_context = {{
    [GMOD_CONTEXT_BEFORE] = look_once_more,
    [GMOD_CONTEXT_COMMIT] = forget,
}};
