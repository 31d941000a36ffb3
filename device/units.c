#include "device/units.h"

#include <pthread.h>

#include "device/guard.h"
#include "device/heaps.h"
#include "lib/context/wait.h"
#include "lib/base/scope.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* The guard kernel as nvcc and NVRTC spell it, with the layout in it: a unit of another layout is not found by it. */
static const char guard_name[] = "_Z15gmod_unit_guardILj" TEXT(GMOD_DEVICE_LAYOUT_NUMBER) "EEvP16gmod_device_heapjj";

static struct gmod_unit units[GMOD_UNITS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over units[] and the filling of pointers */

static bool wanted(void)
{
	return gmod_on() && gmod_options()->device_heap != GMOD_OPTION_HEAP_OFF;
}

/* Most modules are no units; anything else that goes wrong is said. */
static bool found(CUresult r, const char *entry_point)
{
	if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_FOUND)
		gmod_degraded(entry_point);
	return r == CUDA_SUCCESS;
}

/* What threads remember of the units and contexts is out of date. */
static void changed(void)
{
	/* release: the change is there for who sees that there was one */
	atomic_fetch_add_explicit(&gmod_hot.units, 2, memory_order_release);
}

static void lock_units(struct gmod_scope *hold)
{
	gmod_scope_begin(hold);
	pthread_mutex_lock(&lock);
}

static void unlock_units(const struct gmod_scope *hold)
{
	pthread_mutex_unlock(&lock);
	gmod_scope_end(hold);
}

/* Its place, NULL for a free one; GMOD_UNITS: there is none. Under the lock. */
static unsigned place_of(const void *handle)
{
	unsigned i = 0;

	while (i < GMOD_UNITS && units[i].handle != handle)
		i++;
	return i;
}

static void add(struct gmod_unit unit)
{
	struct gmod_scope hold;
	unsigned i;

	lock_units(&hold);
	i = place_of(NULL);
	if (i < GMOD_UNITS) {
		units[i] = unit;
		atomic_fetch_or_explicit(&gmod_hot.units, 1, memory_order_relaxed);
		changed();
	}
	unlock_units(&hold);
	if (i == GMOD_UNITS)
		gmod_degraded("a device heap for one more module");
}

void gmod_unit_module(CUmodule module)
{
	struct gmod_unit u = {.handle = module};
	CUstreamCaptureMode before;
	struct gmod_owner owner;
	CUfunction guard;
	CUresult r;

	if (!wanted())
		return;
	before = gmod_relaxed_begin();
	r = NEXT(cuModuleGetFunction)(&guard, module, guard_name);
	gmod_relaxed_end(before);
	if (!found(r, "cuModuleGetFunction"))
		return;
	owner = gmod_current_owner();
	if (!owner.context || owner.green)
		return;
	u.guard = guard;
	u.context = owner.context;
	add(u);
}

void gmod_unit_library(CUlibrary library)
{
	struct gmod_unit u = {.handle = library, .is_library = true};
	CUstreamCaptureMode before;
	CUkernel guard;
	CUresult r;

	if (!wanted())
		return;
	before = gmod_relaxed_begin();
	r = NEXT(cuLibraryGetKernel)(&guard, library, guard_name);
	gmod_relaxed_end(before);
	if (!found(r, "cuLibraryGetKernel"))
		return;
	u.guard = guard;
	add(u);
}

/* Its place may be another's next: no context has filled it then. Under the lock. */
static void forget(unsigned i)
{
	uint64_t bit = UINT64_C(1) << i;

	units[i].handle = NULL;
	for (unsigned c = 0; c < GMOD_CONTEXTS; c++)
		atomic_fetch_and_explicit(&gmod_context_at(c)->units_ready, ~bit, memory_order_relaxed);
	for (i = 0; i < GMOD_UNITS && !units[i].handle;)
		i++;
	if (i == GMOD_UNITS)
		atomic_fetch_and_explicit(&gmod_hot.units, ~UINT64_C(1), memory_order_relaxed);
	changed();
}

static struct gmod_unit unit_of(const void *handle)
{
	struct gmod_unit u = {0};
	struct gmod_scope hold;
	unsigned i;

	lock_units(&hold);
	i = place_of(handle);
	if (i < GMOD_UNITS)
		u = units[i];
	unlock_units(&hold);
	return u;
}

/*
 * Unloading a module waits for all work of its context, and so does freeing memory, which captures let pass in relaxed
 * mode (both measured on driver 580; cuCtxSynchronize ends them). What kernels do until then is there for the last
 * pass. Unloading a library waits for its own kernels alone, which nothing else does: the last pass does not wait.
 */
static void await_work(const struct gmod_context *c)
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
	struct gmod_scope hold;
	unsigned i;

	/* In a forked child the lock may be held by a thread that is not there. */
	if (gmod_phase() == GMOD_OFF || !gmod_units_exist() || !handle)
		return u;
	u = unit_of(handle);
	if (!u.handle)
		return u;
	c = u.is_library ? NULL : gmod_context_of(u.context);
	if (c && atomic_load_explicit(&c->heap, memory_order_relaxed))
		await_work(c);
	if (!gmod_guard_check(c, GMOD_SECONDS(1)))
		gmod_degraded("a guard pass before a module is unloaded");
	lock_units(&hold);
	i = place_of(handle);
	if (i < GMOD_UNITS)
		forget(i);
	unlock_units(&hold);
	if (!gmod_guard_settle(c, GMOD_SECONDS(5)))
		gmod_degraded("waiting for the guard before a module is unloaded");
	return u;
}

void gmod_unit_stays(const struct gmod_unit *u)
{
	if (u->handle && gmod_phase() != GMOD_OFF)
		add(*u);
}

void gmod_units_context_gone(struct gmod_context *c)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	struct gmod_scope hold;

	atomic_store_explicit(&c->units_ready, 0, memory_order_relaxed);
	atomic_store_explicit(&c->units_state, 0, memory_order_relaxed);
	if (gmod_phase() == GMOD_OFF || !gmod_units_exist())
		return;
	lock_units(&hold);
	for (unsigned i = 0; i < GMOD_UNITS; i++)
		if (units[i].handle && !units[i].is_library && units[i].context == context)
			forget(i);
	changed();
	unlock_units(&hold);
}

static bool is_in(const struct gmod_unit *u, CUcontext context)
{
	return u->handle && (u->is_library || u->context == context);
}

static CUresult find_pointer(const struct gmod_unit *u, CUdeviceptr *at)
{
	size_t size = 0;
	CUmodule module = u->handle;
	CUresult r = u->is_library ? NEXT(cuLibraryGetModule)(&module, u->handle) : CUDA_SUCCESS;

	if (r == CUDA_SUCCESS)
		r = NEXT(cuModuleGetGlobal_v2)(at, &size, module, "gmod_unit_heap");
	return r == CUDA_SUCCESS && size != sizeof(uint64_t) ? CUDA_ERROR_INVALID_VALUE : r;
}

static void fill(const struct gmod_unit *u, struct gmod_heap *h)
{
	CUdeviceptr at;

	if (find_pointer(u, &at) != CUDA_SUCCESS || !gmod_heap_write(h, at, &h->header, sizeof(h->header)))
		gmod_degraded("filling a unit's pointer");
}

/* Units of the context that have not been filled there, a bit each. Under the lock. */
static uint64_t missing_in(const struct gmod_context *c)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	uint64_t ready = atomic_load_explicit(&c->units_ready, memory_order_relaxed), missing = 0;

	for (unsigned i = 0; i < GMOD_UNITS; i++)
		if (is_in(&units[i], context))
			missing |= UINT64_C(1) << i;
	return missing & ~ready;
}

/* Returns which were. Under the lock. */
static uint64_t fill_missing(struct gmod_context *c)
{
	uint64_t missing = missing_in(c);
	struct gmod_heap *h = missing ? gmod_heap_here(c) : NULL;

	for (unsigned i = 0; h && i < GMOD_UNITS; i++)
		if (missing >> i & 1)
			fill(&units[i], h);
	return missing;
}

/*
 * Units are ready when their guard kernel has been launched, so that nobody can launch a kernel of theirs before that:
 * two threads that come at the same time both fill and launch. A unit that cannot be filled is not tried again. Where
 * units have come or gone meanwhile, a place may be another one's: then none is ready, and the next launch sees to it.
 */
static void prepare(struct gmod_context *c, uint64_t state)
{
	CUstreamCaptureMode before;
	struct gmod_scope hold;
	uint64_t filled;

	lock_units(&hold);
	before = gmod_relaxed_begin();
	filled = fill_missing(c);
	gmod_relaxed_end(before);
	unlock_units(&hold);
	if (filled)
		gmod_guard_begin(c, filled);
	lock_units(&hold);
	if (atomic_load_explicit(&gmod_hot.units, memory_order_relaxed) == state)
		atomic_fetch_or_explicit(&c->units_ready, filled, memory_order_relaxed);
	unlock_units(&hold);
}

/* false: not now. Launches that alternate between contexts come here each time. */
static bool prepare_once(struct gmod_context *c, uint64_t state)
{
	bool is_ready = atomic_load_explicit(&c->units_state, memory_order_acquire) == state;
	CUcontext popped;

	if (is_ready || !gmod_context_use_begin(c))
		return is_ready;
	if (NEXT(cuCtxPushCurrent_v2)(atomic_load_explicit(&c->handle, memory_order_relaxed)) == CUDA_SUCCESS) {
		prepare(c, state);
		if (NEXT(cuCtxPopCurrent_v2)(&popped) != CUDA_SUCCESS)
			gmod_degraded("cuCtxPopCurrent");
		/* release: what was prepared is for who sees it */
		atomic_store_explicit(&c->units_state, state, memory_order_release);
		is_ready = true;
	}
	gmod_context_use_end(c);
	return is_ready;
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

/* Have an entry made for each context that has a module which is a unit. */
static void meet_contexts(void)
{
	CUcontext context[GMOD_UNITS];
	struct gmod_scope hold;
	unsigned n = 0;

	lock_units(&hold);
	for (unsigned i = 0; i < GMOD_UNITS; i++)
		if (units[i].handle && !units[i].is_library)
			context[n++] = units[i].context;
	unlock_units(&hold);
	while (n)
		gmod_context_made(context[--n]);
}

void gmod_units_fill_all(uint64_t state)
{
	static __thread uint64_t met __attribute__((tls_model("initial-exec"))); /* of that state, by this thread */

	if (met != state)
		meet_contexts();
	met = state;
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		struct gmod_context *c = gmod_context_at(i);

		if (atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_ALIVE)
			prepare_once(c, state);
	}
}

/* The guard kernel of the unit at that place, NULL: it is not in that context. */
static void *guard_at(unsigned i, CUcontext context)
{
	struct gmod_scope hold;
	void *guard;

	lock_units(&hold);
	guard = is_in(&units[i], context) ? units[i].guard : NULL;
	unlock_units(&hold);
	return guard;
}

bool gmod_units_launch_guard(const struct gmod_context *c, const struct gmod_guard_launch *l)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	uint64_t ready = atomic_load_explicit(&c->units_ready, memory_order_relaxed);
	uint64_t usable = l->units == GMOD_ANY_UNIT ? ready : l->units;

	for (unsigned i = 0; i < GMOD_UNITS; i++) {
		void *guard = usable >> i & 1 ? guard_at(i, context) : NULL;

		/* It is not unloaded meanwhile: who unloads waits for the guard's lock, which is held here. */
		if (guard && NEXT(cuLaunchKernel)((CUfunction)guard, l->blocks, 1, 1, l->threads, 1, 1, 0, l->stream,
						  l->arguments, NULL) == CUDA_SUCCESS)
			return true;
	}
	return false;
}
