#include "device/units.h"

#include <pthread.h>
#include <stdlib.h>

#include "include/gmod/device_heap.h"
#include "lib/base/facts.h"
#include "lib/base/scope.h"

_Static_assert(GMOD_CONTEXTS <= 64, "a bit for each context");

/*
 * A unit, and the contexts in which its kernels know the heap: told, and told with a first guard pass behind it. Where
 * they could not be told the unit is lost, and its guard kernel looks at nothing.
 */
struct place {
	struct gmod_unit unit;
	uint64_t begun, ready, lost;
};

static struct place *places;
static unsigned count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over all that, and the filling of units */

static uint64_t bit_of(const struct gmod_context *c)
{
	return UINT64_C(1) << gmod_context_index(c);
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

/* NULL: a free place. GMOD_NO_UNIT: there is none. Under the lock. */
static unsigned place_of(const void *handle)
{
	for (unsigned i = 0; i < count; i++)
		if (places[i].unit.handle == handle)
			return i;
	return GMOD_NO_UNIT;
}

static bool add(struct gmod_unit unit)
{
	unsigned i = place_of(NULL);
	struct place *more;

	if (i == GMOD_NO_UNIT) {
		more = realloc(places, (count + 1) * sizeof(*places));
		if (!more)
			return false;
		places = more;
		i = count++;
	}
	places[i] = (struct place){.unit = unit};
	atomic_fetch_or_explicit(&gmod_hot.units, 1, memory_order_relaxed);
	changed();
	return true;
}

void gmod_units_add(struct gmod_unit unit)
{
	struct gmod_scope scope;
	bool added;

	lock_units(&scope);
	added = add(unit);
	unlock_units(&scope);
	if (!added)
		gmod_degraded("a device heap for one more module");
}

struct gmod_unit gmod_unit_of(const void *handle)
{
	struct gmod_unit u = {0};
	struct gmod_scope scope;
	unsigned i;

	lock_units(&scope);
	i = place_of(handle);
	if (i != GMOD_NO_UNIT)
		u = places[i].unit;
	unlock_units(&scope);
	return u;
}

/* Under the lock. */
static void forget_at(unsigned i)
{
	bool any = false;

	places[i].unit.handle = NULL;
	for (i = 0; i < count; i++)
		any |= places[i].unit.handle != NULL;
	if (!any)
		atomic_fetch_and_explicit(&gmod_hot.units, ~UINT64_C(1), memory_order_relaxed);
	changed();
}

void gmod_units_forget(const void *handle)
{
	struct gmod_scope scope;
	unsigned i;

	lock_units(&scope);
	i = place_of(handle);
	if (i != GMOD_NO_UNIT)
		forget_at(i);
	unlock_units(&scope);
}

void gmod_units_forget_context(const struct gmod_context *c)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	struct gmod_scope scope;

	if (gmod_phase() == GMOD_OFF || !gmod_units_exist())
		return;
	lock_units(&scope);
	for (unsigned i = 0; i < count; i++) {
		struct place *p = &places[i];

		p->begun &= ~bit_of(c);
		p->ready &= ~bit_of(c);
		p->lost &= ~bit_of(c);
		if (p->unit.handle && !p->unit.is_library && p->unit.context == context)
			forget_at(i);
	}
	changed();
	unlock_units(&scope);
}

static bool is_in(const struct gmod_unit *u, CUcontext context)
{
	return u->handle && (u->is_library || u->context == context);
}

unsigned gmod_units_fill_missing(const struct gmod_context *c, bool (*fill)(const struct gmod_unit *u, void *arg),
				 void *arg)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	struct gmod_scope scope;
	unsigned filled = 0;

	lock_units(&scope);
	for (unsigned i = 0; i < count; i++) {
		if (!is_in(&places[i].unit, context) || (places[i].ready | places[i].lost) & bit_of(c))
			continue;
		if (!fill(&places[i].unit, arg)) {
			places[i].lost |= bit_of(c);
			continue;
		}
		places[i].begun |= bit_of(c);
		filled++;
	}
	unlock_units(&scope);
	return filled;
}

void gmod_units_filled(const struct gmod_context *c, uint64_t state)
{
	struct gmod_scope scope;

	lock_units(&scope);
	for (unsigned i = 0; i < count; i++)
		if (atomic_load_explicit(&gmod_hot.units, memory_order_relaxed) == state)
			places[i].ready |= places[i].begun & bit_of(c);
	unlock_units(&scope);
}

unsigned gmod_units_begun(const struct gmod_context *c, unsigned place)
{
	struct gmod_scope scope;

	lock_units(&scope);
	while (place < count && !(places[place].begun & ~places[place].ready & bit_of(c)))
		place++;
	if (place >= count)
		place = GMOD_NO_UNIT;
	unlock_units(&scope);
	return place;
}

/* The guard kernel of the unit at that place, if that is ready or the one that is wanted; false: there are no more. */
static bool guard_at(unsigned i, const struct gmod_context *c, unsigned wanted, void **guard)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	struct gmod_scope scope;
	bool there;

	*guard = NULL;
	lock_units(&scope);
	there = i < count;
	if (there && is_in(&places[i].unit, context) &&
	    (wanted == GMOD_NO_UNIT ? (places[i].ready & bit_of(c)) != 0 : i == wanted))
		*guard = places[i].unit.guard;
	unlock_units(&scope);
	return there;
}

bool gmod_units_launch_guard(const struct gmod_context *c, unsigned unit, CUstream stream, unsigned blocks)
{
	void *guard;

	for (unsigned i = 0; guard_at(i, c, unit, &guard); i++)
		/* It is not unloaded meanwhile: who unloads waits for the guard's lock, which is held here. */
		if (guard && NEXT(cuLaunchKernel)((CUfunction)guard, blocks, 1, 1, GMOD_GUARD_THREADS, 1, 1, 0, stream,
						  NULL, NULL) == CUDA_SUCCESS)
			return true;
	return false;
}
