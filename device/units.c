#include "device/units.h"

#include <pthread.h>

#include "lib/base/facts.h"
#include "lib/base/scope.h"

static struct gmod_unit units[GMOD_UNITS];
static _Atomic uint64_t ready[GMOD_CONTEXTS]; /* units whose pointer to the heap is filled there, a bit each */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over units[] and the filling of pointers */

static _Atomic uint64_t *ready_in(const struct gmod_context *c)
{
	return &ready[gmod_context_index(c)];
}

/* What threads remember of the units and contexts is out of date. */
static void changed(void)
{
	/* release: the change is there for who sees that there was one */
	atomic_fetch_add_explicit(&gmod_hot.units, 2, memory_order_release);
}

static void lock_units(struct gmod_scope *scope)
{
	gmod_scope_begin(scope);
	pthread_mutex_lock(&lock);
}

static void unlock_units(const struct gmod_scope *scope)
{
	pthread_mutex_unlock(&lock);
	gmod_scope_end(scope);
}

/* Its place, NULL for a free one; GMOD_UNITS: there is none. Under the lock. */
static unsigned place_of(const void *handle)
{
	unsigned i = 0;

	while (i < GMOD_UNITS && units[i].handle != handle)
		i++;
	return i;
}

void gmod_units_add(struct gmod_unit unit)
{
	struct gmod_scope scope;
	unsigned i;

	lock_units(&scope);
	i = place_of(NULL);
	if (i < GMOD_UNITS) {
		units[i] = unit;
		atomic_fetch_or_explicit(&gmod_hot.units, 1, memory_order_relaxed);
		changed();
	}
	unlock_units(&scope);
	if (i == GMOD_UNITS)
		gmod_degraded("a device heap for one more module");
}

struct gmod_unit gmod_unit_of(const void *handle)
{
	struct gmod_unit u = {0};
	struct gmod_scope scope;
	unsigned i;

	lock_units(&scope);
	i = place_of(handle);
	if (i < GMOD_UNITS)
		u = units[i];
	unlock_units(&scope);
	return u;
}

/* Its place may be another's next: no context has filled it then. Under the lock. */
static void forget_at(unsigned i)
{
	uint64_t bit = UINT64_C(1) << i;

	units[i].handle = NULL;
	for (unsigned c = 0; c < GMOD_CONTEXTS; c++)
		atomic_fetch_and_explicit(&ready[c], ~bit, memory_order_relaxed);
	for (i = 0; i < GMOD_UNITS && !units[i].handle;)
		i++;
	if (i == GMOD_UNITS)
		atomic_fetch_and_explicit(&gmod_hot.units, ~UINT64_C(1), memory_order_relaxed);
	changed();
}

void gmod_units_forget(const void *handle)
{
	struct gmod_scope scope;
	unsigned i;

	lock_units(&scope);
	i = place_of(handle);
	if (i < GMOD_UNITS)
		forget_at(i);
	unlock_units(&scope);
}

void gmod_units_forget_context(const struct gmod_context *c)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	struct gmod_scope scope;

	atomic_store_explicit(ready_in(c), 0, memory_order_relaxed);
	if (gmod_phase() == GMOD_OFF || !gmod_units_exist())
		return;
	lock_units(&scope);
	for (unsigned i = 0; i < GMOD_UNITS; i++)
		if (units[i].handle && !units[i].is_library && units[i].context == context)
			forget_at(i);
	changed();
	unlock_units(&scope);
}

unsigned gmod_units_contexts(CUcontext context[GMOD_UNITS])
{
	struct gmod_scope scope;
	unsigned n = 0;

	lock_units(&scope);
	for (unsigned i = 0; i < GMOD_UNITS; i++)
		if (units[i].handle && !units[i].is_library)
			context[n++] = units[i].context;
	unlock_units(&scope);
	return n;
}

static bool is_in(const struct gmod_unit *u, CUcontext context)
{
	return u->handle && (u->is_library || u->context == context);
}

/* Units of the context that have not been filled there, a bit each. Under the lock. */
static uint64_t missing_in(const struct gmod_context *c)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	uint64_t filled = atomic_load_explicit(ready_in(c), memory_order_relaxed), missing = 0;

	for (unsigned i = 0; i < GMOD_UNITS; i++)
		if (is_in(&units[i], context))
			missing |= UINT64_C(1) << i;
	return missing & ~filled;
}

uint64_t gmod_units_fill_missing(const struct gmod_context *c, void (*fill)(const struct gmod_unit *u, void *arg),
				 void *arg)
{
	struct gmod_scope scope;
	uint64_t missing;

	lock_units(&scope);
	missing = missing_in(c);
	for (unsigned i = 0; i < GMOD_UNITS; i++)
		if (missing >> i & 1)
			fill(&units[i], arg);
	unlock_units(&scope);
	return missing;
}

void gmod_units_filled(const struct gmod_context *c, uint64_t filled, uint64_t state)
{
	struct gmod_scope scope;

	lock_units(&scope);
	if (atomic_load_explicit(&gmod_hot.units, memory_order_relaxed) == state)
		atomic_fetch_or_explicit(ready_in(c), filled, memory_order_relaxed);
	unlock_units(&scope);
}

/* The guard kernel of the unit at that place, NULL: it is not in that context. */
static void *guard_at(unsigned i, CUcontext context)
{
	struct gmod_scope scope;
	void *guard;

	lock_units(&scope);
	guard = is_in(&units[i], context) ? units[i].guard : NULL;
	unlock_units(&scope);
	return guard;
}

bool gmod_units_launch_guard(const struct gmod_context *c, const struct gmod_guard_launch *l)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	uint64_t usable =
	    l->units == GMOD_ANY_UNIT ? atomic_load_explicit(ready_in(c), memory_order_relaxed) : l->units;

	for (unsigned i = 0; i < GMOD_UNITS; i++) {
		void *guard = usable >> i & 1 ? guard_at(i, context) : NULL;

		/* It is not unloaded meanwhile: who unloads waits for the guard's lock, which is held here. */
		if (guard && NEXT(cuLaunchKernel)((CUfunction)guard, l->blocks, 1, 1, l->threads, 1, 1, 0, l->stream,
						  l->arguments, NULL) == CUDA_SUCCESS)
			return true;
	}
	return false;
}
