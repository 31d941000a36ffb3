#include "lib/context/teardown.h"

#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/base/phase.h"
#include "lib/driver/errors.h"
#include "lib/faults/keeper.h"
#include "monitor/registry/index.h"
#include "monitor/watch/postmortem.h"

enum { LISTENERS = 8 };

static const struct gmod_context_listener *listeners[LISTENERS];
static unsigned listening;

void gmod_context_listen(const struct gmod_context_listener *listener)
{
	listeners[listening++] = listener;
}

static void tell(struct gmod_context *c, enum gmod_context_event event)
{
	for (unsigned i = 0; i < listening; i++)
		if (listeners[i]->on[event])
			listeners[i]->on[event](c);
}

static void say_stuck(void)
{
	static atomic_bool said;

	if (gmod_degraded_first(&said))
		gmod_log_note(0, "a context is destroyed while a driver call of GMOD's in it has not returned for 5 s");
}

static void wait_for_users(const struct gmod_context *c)
{
	uint64_t deadline = GMOD_SECONDS(5);

	while (atomic_load_explicit(&c->users, memory_order_seq_cst))
		if (!gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10)) {
			say_stuck();
			return;
		}
}

/* The entry is still that context's, and nobody else tears it down. */
static bool take(struct gmod_context *c, CUcontext handle)
{
	int was = atomic_load_explicit(&c->state, memory_order_relaxed);

	/* seq_cst: before the look at the users; see context.h */
	if ((was != GMOD_CONTEXT_ALIVE && was != GMOD_CONTEXT_BROKEN) ||
	    !atomic_compare_exchange_strong_explicit(&c->state, &was, GMOD_CONTEXT_DYING, memory_order_seq_cst,
						     memory_order_relaxed))
		return false;
	c->was = was;
	if (atomic_load_explicit(&c->handle, memory_order_relaxed) == handle)
		return true;
	atomic_store_explicit(&c->state, was, memory_order_release);
	return false;
}

/* Before the state: who finds a buffer RELEASING and then its context alive, looks once more because of it. */
static void end(struct gmod_context *c, enum gmod_context_state state)
{
	gmod_index_departed();
	atomic_store_explicit(&c->state, state, memory_order_release);
}

static bool begin(struct gmod_context *c, CUcontext handle)
{
	if (atomic_load_explicit(&c->state, memory_order_acquire) == GMOD_CONTEXT_DYING)
		return false;
	tell(c, GMOD_CONTEXT_BEFORE);
	if (!take(c, handle))
		return false;
	wait_for_users(c);
	gmod_index_depart();
	tell(c, GMOD_CONTEXT_BEGIN);
	return true;
}

struct gmod_context *gmod_context_teardown_begin(CUcontext handle)
{
	uint64_t deadline = GMOD_SECONDS(5);
	struct gmod_context *c;

	while ((c = gmod_context_known(handle)) && !begin(c, handle))
		if (!gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10)) {
			gmod_degraded("the end of a context");
			return NULL;
		}
	return c;
}

/* What the entry had of the driver went with the context. */
void gmod_context_teardown_commit(struct gmod_context *c)
{
	tell(c, GMOD_CONTEXT_COMMIT);
	atomic_store_explicit(&c->handle, NULL, memory_order_relaxed);
	/* release: whose buffer it was sees that it is gone */
	atomic_fetch_add_explicit(&c->ends, 1, memory_order_release);
	end(c, GMOD_CONTEXT_NONE);
}

void gmod_context_teardown_cancel(struct gmod_context *c)
{
	if (c->was == GMOD_CONTEXT_ALIVE)
		tell(c, GMOD_CONTEXT_CANCEL);
	end(c, c->was);
}

/* ---- a context that is broken ---- */

/* Its sticky error, or SUCCESS. */
static CUresult error_of(const struct gmod_context *c)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool visited = gmod_context_visit_begin(c);
	CUresult r = c->stream ? NEXT(cuStreamQuery)(c->stream) : CUDA_SUCCESS;

	gmod_context_visit_end(visited);
	gmod_relaxed_end(mode);
	return gmod_is_sticky(r) ? r : CUDA_SUCCESS;
}

/* true: now it is, and the caller is inside until bury(): nobody ends it meanwhile. */
static bool breaks(struct gmod_context *c)
{
	int expected = GMOD_CONTEXT_ALIVE;

	if (!gmod_context_use_begin(c))
		return false;
	if (error_of(c) && atomic_compare_exchange_strong_explicit(&c->state, &expected, GMOD_CONTEXT_BROKEN,
								   memory_order_seq_cst, memory_order_relaxed))
		return true;
	gmod_context_use_end(c);
	return false;
}

static void bury(struct gmod_context *c)
{
	gmod_index_depart();
	tell(c, GMOD_CONTEXT_BEGIN);
	gmod_index_departed();
	gmod_context_use_end(c);
}

/*
 * An error that nobody's context explains is one of a context without guarded buffers: one of these is reported, unless
 * a context that explains it has gone by a reset.
 */
static atomic_bool said;

static bool is_of_no_entry(void)
{
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++)
		if (atomic_load_explicit(&gmod_contexts[i].state, memory_order_acquire) == GMOD_CONTEXT_BROKEN)
			return false;
	return gmod_first_time(&said);
}

CUresult gmod_context_error(void)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; i < GMOD_CONTEXTS && r == CUDA_SUCCESS; i++)
		if (gmod_context_use_begin(gmod_context_at(i))) {
			r = error_of(gmod_context_at(i));
			gmod_context_use_end(gmod_context_at(i));
		}
	return r;
}

static atomic_bool told; /* the program, of a sticky error */

bool gmod_context_was_told(void)
{
	return atomic_load_explicit(&told, memory_order_relaxed);
}

void gmod_context_broke(CUresult error, const char *entry_point)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	uint64_t broken = 0; /* a bit for each entry */

	for (unsigned i = 0; gmod_on() && i < GMOD_CONTEXTS; i++)
		if (breaks(gmod_context_at(i)))
			broken |= UINT64_C(1) << i;
	if (gmod_on() && (broken || is_of_no_entry()))
		gmod_post_mortem(error, entry_point);
	if (broken)
		atomic_store_explicit(&said, true, memory_order_relaxed);
	for (unsigned i = 0; i < GMOD_CONTEXTS; i++)
		if (broken >> i & 1)
			bury(gmod_context_at(i));
	gmod_cancel_end(cancel);
}

void gmod_context_failed(CUresult error, const char *entry_point)
{
	atomic_store_explicit(&told, true, memory_order_relaxed);
	gmod_context_broke(error, entry_point);
	gmod_keeper_let_go();
}
