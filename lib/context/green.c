#include "lib/context/green.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/scope.h"
#include "monitor/launches/proof.h"

enum { GREENS = 256, STREAMS = 1024 };

/*
 * Written under the lock, and read whole without it by who finds the same even turn before and after
 * (tests/models/green.pml).
 */
static struct place {
	_Atomic uint64_t turn;      /* odd while it is being written */
	_Atomic(CUcontext) context; /* NULL: free */
	_Atomic(CUcontext) home;
	atomic_int device;
} places[GREENS];
static _Atomic unsigned count;
static struct {
	CUstream stream; /* NULL: free */
	CUcontext green;
} streams[STREAMS]; /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct place *place_of(CUcontext context)
{
	for (unsigned i = 0; i < GREENS; i++)
		if (atomic_load_explicit(&places[i].context, memory_order_relaxed) == context)
			return &places[i];
	return NULL;
}

/* Under the lock. */
static void write_place(struct place *p, const struct gmod_green *green)
{
	uint64_t turn = atomic_load_explicit(&p->turn, memory_order_relaxed);

	atomic_store_explicit(&p->turn, turn + 1, memory_order_relaxed);
	/* release: who sees any of what follows sees that turn, too */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&p->context, green->context, memory_order_relaxed);
	atomic_store_explicit(&p->home, green->home, memory_order_relaxed);
	atomic_store_explicit(&p->device, green->device, memory_order_relaxed);
	atomic_store_explicit(&p->turn, turn + 2, memory_order_release);
}

bool gmod_green_made(const struct gmod_green *green)
{
	struct gmod_scope hold;
	struct place *p;

	gmod_scope_begin(&hold);
	pthread_mutex_lock(&lock);
	p = place_of(NULL);
	if (p) {
		write_place(p, green);
		/* release: it is found by who sees that there is one */
		atomic_fetch_add_explicit(&count, 1, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	gmod_scope_end(&hold);
	return p;
}

static void forget_streams_of(CUcontext green)
{
	for (unsigned i = 0; i < STREAMS; i++)
		if (streams[i].green == green)
			streams[i].stream = NULL;
}

void gmod_green_gone(CUcontext context)
{
	struct gmod_scope hold;
	struct place *p;

	gmod_scope_begin(&hold);
	pthread_mutex_lock(&lock);
	p = context ? place_of(context) : NULL;
	if (p) {
		write_place(p, &(struct gmod_green){0});
		atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
		forget_streams_of(context);
	}
	pthread_mutex_unlock(&lock);
	gmod_scope_end(&hold);
}

static bool read_place(const struct place *p, struct gmod_green *out)
{
	uint64_t turn = atomic_load_explicit(&p->turn, memory_order_acquire);

	out->context = atomic_load_explicit(&p->context, memory_order_relaxed);
	out->home = atomic_load_explicit(&p->home, memory_order_relaxed);
	out->device = atomic_load_explicit(&p->device, memory_order_relaxed);
	/* acquire: if any of these is another's, then the turn is another by now */
	atomic_thread_fence(memory_order_acquire);
	return out->context && !(turn & 1) && atomic_load_explicit(&p->turn, memory_order_relaxed) == turn;
}

static bool exist(void)
{
	return atomic_load_explicit(&count, memory_order_acquire);
}

bool gmod_green_find(CUcontext context, struct gmod_green *out)
{
	if (!context || !exist())
		return false;
	for (unsigned i = 0; i < GREENS; i++)
		if (atomic_load_explicit(&places[i].context, memory_order_relaxed) == context &&
		    read_place(&places[i], out) && out->context == context)
			return true;
	return false;
}

/* The first place of that stream gets another. */
static void replace_stream(CUstream stream, CUstream with, CUcontext green)
{
	struct gmod_scope hold;
	unsigned i = 0;

	gmod_scope_begin(&hold);
	pthread_mutex_lock(&lock);
	while (i < STREAMS && streams[i].stream != stream)
		i++;
	if (i < STREAMS) {
		streams[i].stream = with;
		streams[i].green = green;
	}
	pthread_mutex_unlock(&lock);
	gmod_scope_end(&hold);
}

void gmod_green_stream_made(CUstream stream, CUcontext green)
{
	struct gmod_green known;

	if (gmod_green_find(green, &known))
		replace_stream(NULL, stream, green);
}

void gmod_green_stream_made_here(CUstream stream)
{
	CUcontext current = NULL;

	if (exist() && NEXT(cuCtxGetCurrent)(&current) == CUDA_SUCCESS)
		gmod_green_stream_made(stream, current);
}

void gmod_green_stream_gone(CUstream stream)
{
	if (stream && exist())
		replace_stream(stream, NULL, NULL);
}

static void prove_streams_of(CUcontext green, uint64_t began)
{
	struct gmod_scope hold;

	gmod_scope_begin(&hold);
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < STREAMS; i++)
		if (streams[i].stream && streams[i].green == green)
			gmod_prove_stream((uint64_t)(uintptr_t)streams[i].stream, began);
	pthread_mutex_unlock(&lock);
	gmod_scope_end(&hold);
}

void gmod_prove_context_wait(uint64_t context, uint64_t began)
{
	struct gmod_green green;

	if (gmod_green_find((CUcontext)(uintptr_t)context, &green)) {
		gmod_prove_stream(gmod_stream_key(GMOD_KEY_LEGACY, GMOD_LEGACY, context), began);
		prove_streams_of(green.context, began);
		return;
	}
	gmod_prove_context(context, began);
	if (!exist())
		return;
	for (unsigned i = 0; i < GREENS; i++)
		if (read_place(&places[i], &green) && (uint64_t)(uintptr_t)green.home == context)
			gmod_prove_context((uint64_t)(uintptr_t)green.context, began);
}
