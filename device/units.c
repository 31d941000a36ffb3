#include "device/units.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device/heaps.h"
#include "lib/hold.h"
#include "lib/log.h"
#include "lib/start.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* The guard kernel as nvcc and NVRTC spell it, with the layout in it: a unit of another layout is not found by it. */
static const char guard_name[] = "_Z15gmod_unit_guardILj" TEXT(GMOD_DEVICE_LAYOUT_NUMBER) "EEvP16gmod_device_heapjj";

struct unit {
	void *handle; /* CUmodule or CUlibrary; NULL: none */
	void *guard;  /* CUfunction or CUkernel */
	bool library;
	CUcontext context; /* of a module; a library is in all */
};

static struct unit units[GMOD_UNITS];
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

static void add(struct unit unit)
{
	struct gmod_hold hold;

	gmod_hold(&hold);
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < GMOD_UNITS; i++) {
		if (units[i].handle)
			continue;
		units[i] = unit;
		/* release: the unit is there for who sees its bit */
		atomic_fetch_or_explicit(&gmod_hot.units, UINT64_C(1) << i, memory_order_release);
		break;
	}
	pthread_mutex_unlock(&lock);
	gmod_let_go(&hold);
}

void gmod_unit_module(CUmodule module)
{
	struct unit u = {.handle = module};
	CUfunction guard;

	if (!wanted() || !found(NEXT(cuModuleGetFunction)(&guard, module, guard_name), "cuModuleGetFunction"))
		return;
	u.guard = guard;
	NEXT(cuCtxGetCurrent)(&u.context);
	add(u);
}

void gmod_unit_library(CUlibrary library)
{
	struct unit u = {.handle = library, .library = true};
	CUkernel guard;

	if (!wanted() || !found(NEXT(cuLibraryGetKernel)(&guard, library, guard_name), "cuLibraryGetKernel"))
		return;
	u.guard = guard;
	add(u);
}

/* Its place may be another's next: no context has filled it then. */
static void forget(unsigned i)
{
	uint64_t bit = UINT64_C(1) << i;

	units[i].handle = NULL;
	atomic_fetch_and_explicit(&gmod_hot.units, ~bit, memory_order_relaxed);
	for (unsigned c = 0; c < GMOD_CONTEXTS; c++)
		atomic_fetch_and_explicit(&gmod_context_at(c)->units_ready, ~bit, memory_order_relaxed);
}

void gmod_unit_unload(const void *handle)
{
	struct gmod_hold hold;

	if (!atomic_load_explicit(&gmod_hot.units, memory_order_relaxed))
		return;
	gmod_hold(&hold);
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < GMOD_UNITS; i++)
		if (units[i].handle == handle)
			forget(i);
	pthread_mutex_unlock(&lock);
	gmod_let_go(&hold);
}

static bool is_in(const struct unit *u, CUcontext context)
{
	return u->handle && (u->library || u->context == context);
}

static CUresult find_pointer(const struct unit *u, CUdeviceptr *at)
{
	size_t size = 0;
	CUmodule module = u->handle;
	CUresult r = u->library ? NEXT(cuLibraryGetModule)(&module, u->handle) : CUDA_SUCCESS;

	if (r == CUDA_SUCCESS)
		r = NEXT(cuModuleGetGlobal_v2)(at, &size, module, "gmod_unit_heap");
	return r == CUDA_SUCCESS && size != sizeof(uint64_t) ? CUDA_ERROR_INVALID_VALUE : r;
}

static void fill(const struct unit *u, struct gmod_heap *h)
{
	CUdeviceptr at;

	if (find_pointer(u, &at) != CUDA_SUCCESS ||
	    NEXT(cuMemcpyHtoDAsync_v2)(at, &h->header, sizeof(h->header), h->stream) != CUDA_SUCCESS ||
	    NEXT(cuStreamSynchronize)(h->stream) != CUDA_SUCCESS)
		gmod_degraded("filling a unit's pointer");
}

/* Under the lock. A unit that cannot be filled now is not tried again in this context. */
static void fill_missing(struct gmod_context *c, uint64_t missing)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	CUstreamCaptureMode before = gmod_relaxed_begin();
	struct gmod_heap *h = NULL;

	for (unsigned i = 0; i < GMOD_UNITS; i++) {
		if (!(missing >> i & 1) || !is_in(&units[i], context))
			continue;
		h = h ? h : gmod_heap_here(c);
		if (h)
			fill(&units[i], h);
	}
	/* release: the pointers are filled for who sees the bits */
	atomic_fetch_or_explicit(&c->units_ready, missing, memory_order_release);
	gmod_relaxed_end(before);
}

void gmod_units_fill(void)
{
	struct gmod_context *c = gmod_context_current();
	uint64_t all = atomic_load_explicit(&gmod_hot.units, memory_order_acquire);
	struct gmod_hold hold;

	if (!c || !(all & ~atomic_load_explicit(&c->units_ready, memory_order_acquire)))
		return;
	gmod_hold(&hold);
	pthread_mutex_lock(&lock);
	fill_missing(c, atomic_load_explicit(&gmod_hot.units, memory_order_relaxed) &
			    ~atomic_load_explicit(&c->units_ready, memory_order_relaxed));
	pthread_mutex_unlock(&lock);
	gmod_let_go(&hold);
}

bool gmod_units_launch_guard(const struct gmod_context *c, CUstream stream, unsigned workers, void **arguments)
{
	CUcontext context = atomic_load_explicit(&c->handle, memory_order_relaxed);
	unsigned blocks = (workers + 3) / 4;
	bool launched = false;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < GMOD_UNITS && !launched; i++)
		if (is_in(&units[i], context) && (atomic_load_explicit(&c->units_ready, memory_order_relaxed) >> i & 1))
			launched = NEXT(cuLaunchKernel)((CUfunction)units[i].guard, blocks, 1, 1, 128, 1, 1, 0, stream,
							arguments, NULL) == CUDA_SUCCESS;
	pthread_mutex_unlock(&lock);
	return launched;
}
