/*
 * What an entry point does, by its role. A hook that has one is a call of gmod_call_begin(), of the driver, and of
 * gmod_call_end(): scripts/hooks writes it into lib/hooks/calls.c, from the rows of lib/driver/entrypoints.def. What a
 * role stands for is a row of gmod_roles, below.
 *
 * All of it is in line, and lib/hooks/calls.c alone includes it: a hook knows its role when it is compiled, and keeps
 * of the table and of struct gmod_call what the role needs. A query of an event takes 26 ns so, and 41 where that is
 * asked for at run time. So what is called from here takes values, never a struct gmod_call.
 */
#ifndef GMOD_LIB_HOOKS_CALL_H
#define GMOD_LIB_HOOKS_CALL_H

#include "lib/base/counters.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/patrol.h"
#include "lib/buffers/tensors.h"
#include "lib/hooks/hook.h"
#include "lib/hooks/refuse.h"
#include "monitor/launches/graphs.h"

enum gmod_role {
	GMOD_COPY,
	GMOD_COPY_TO_HOST, /* a synchronous one */
	GMOD_COPIES,       /* a batch: refused as a whole */
	GMOD_FILL,
	GMOD_WORD,   /* written or waited for in stream order, one or a batch */
	GMOD_ADVICE, /* for managed memory only */
	GMOD_WAIT,   /* for a stream, or a query of one */
	GMOD_WAIT_CONTEXT,
	GMOD_WAIT_EVENT,
	GMOD_RECORD,
	GMOD_RECORD_CONTEXT,
	GMOD_JOIN, /* the stream waits for the event */
	GMOD_DESTROY_STREAM,
	GMOD_DESTROY_EVENT,
	GMOD_SHARE_EVENT, /* with another process */
	GMOD_BEGIN_CAPTURE,
	GMOD_UPDATE_GRAPH, /* an executable one, all of it or a node */
	GMOD_ORDER,        /* others come behind a stream by it, or the host behind all of them */
	GMOD_HOLD,         /* the same, and the stream goes on when somebody else wants it to */
	GMOD_DUMPS,        /* asks about exception dumps, or sets what is dumped */
	GMOD_FOREIGN,      /* memory of somebody else's, or what writes where nobody looks: only counted */
	GMOD_ROLES
};

/* An entry point's operands, each as far as it has it; an array has no address, and neither has a default stream. */
struct gmod_call {
	enum gmod_flavour flavour;
	const char *entry_point;
	CUstream stream;
	uint64_t event, context, graph;
	const CUevent *shared;
	uint64_t dst, src;
	size_t size;                          /* in bytes; */
	size_t width, element, height, pitch; /* or elements of so many bytes, and rows of them */
	const CUDA_MEMCPY2D *rows;
	const CUDA_MEMCPY3D *box;
	const CUDA_MEMCPY3D_PEER *peer_box;
	const CUdeviceptr *dsts, *srcs; /* a batch: of so many, */
	const size_t *sizes;
	const CUDA_MEMCPY3D_BATCH_OP *boxes;
	const CUstreamBatchMemOpParams *words;
	size_t count;
	size_t *failed; /* and the first that was refused, for the program */
	_Atomic uint64_t *counter;
	/* From gmod_call_begin() to gmod_call_end(). */
	uint64_t began; /* ticks */
	struct gmod_event_proof covered;
};

/* ---- may the driver be called? ---- */

STRAIGHT bool refuses_copy(struct gmod_call *c)
{
	return gmod_misuse_refuses(c->dst, c->size, c->entry_point) ||
	       gmod_misuse_refuses(c->src, c->size, c->entry_point) ||
	       (c->rows && gmod_refuses_rows(c->rows, c->entry_point)) ||
	       (c->box && gmod_refuses_box(c->box, c->entry_point)) ||
	       (c->peer_box && gmod_refuses_peer_box(c->peer_box, c->entry_point));
}

STRAIGHT bool refuses_batch(struct gmod_call *c)
{
	return gmod_refuses_batch(c->dsts, c->srcs, c->sizes, c->count, c->failed, c->entry_point) ||
	       gmod_refuses_boxes(c->boxes, c->count, c->failed, c->entry_point);
}

STRAIGHT bool refuses_fill(struct gmod_call *c)
{
	c->size = gmod_size_of_fill(c->width, c->element, c->height, c->pitch);
	return gmod_misuse_refuses(c->dst, c->size, c->entry_point);
}

STRAIGHT bool refuses_words(struct gmod_call *c)
{
	return gmod_misuse_refuses(c->dst, c->size, c->entry_point) ||
	       gmod_refuses_words(c->words, c->count, c->entry_point);
}

STRAIGHT bool refuses_advice(struct gmod_call *c)
{
	return gmod_refuses_advice(c->dst, c->size) || gmod_refuses_advices(c->dsts, c->sizes, c->count);
}

/* ---- before the driver is called, with GMOD on ---- */

STRAIGHT void forget_event(struct gmod_call *c)
{
	gmod_event_forget(c->event);
}

STRAIGHT void ask_event(struct gmod_call *c)
{
	c->covered = gmod_event_covers(c->event);
}

/* Of the entry point that takes none, and of the one that is given none. */
STRAIGHT void ask_context(struct gmod_call *c)
{
	if (!c->context)
		c->context = gmod_ask_current_context();
}

STRAIGHT void end_stream(struct gmod_call *c)
{
	gmod_ordered_stream_ends(gmod_handle(c->stream));
	gmod_tensors_stream_ends(gmod_handle(c->stream));
	gmod_stream_destroyed(gmod_handle(c->stream));
}

STRAIGHT void end_event(struct gmod_call *c)
{
	gmod_event_destroyed(c->event);
}

/* GMOD's make place. */
STRAIGHT void leave_dumps(struct gmod_call *c)
{
	(void)c;
	gmod_keeper_withdraw();
}

/* ---- where it has succeeded, with GMOD on ---- */

/* A synchronous copy to the host has returned; where there was nothing to copy there was nothing to wait for. */
STRAIGHT void prove_copied(const struct gmod_call *c)
{
	if (c->size)
		gmod_prove_stream(gmod_waited_stream(c->stream, c->flavour), c->began);
}

STRAIGHT void prove_stream(const struct gmod_call *c)
{
	gmod_prove_stream(gmod_waited_stream(c->stream, c->flavour), c->began);
}

/*
 * A launch counts as one in the context that was current. Where that was a green one it may have gone to a stream of
 * another: a wait for a context that may be green proves nothing.
 */
STRAIGHT void prove_context(const struct gmod_call *c)
{
	if (gmod_context_is_whole((CUcontext)(uintptr_t)c->context))
		gmod_prove_context(c->context, c->began);
}

STRAIGHT void prove_event(const struct gmod_call *c)
{
	struct gmod_event_proof covered = c->covered;

	gmod_prove_event(&covered);
}

/* What goes into a graph has not happened. */
STRAIGHT void event_recorded(const struct gmod_call *c)
{
	if (!gmod_is_captured(c->stream, c->flavour))
		gmod_event_recorded(c->event, gmod_waited_stream(c->stream, c->flavour), c->began);
}

STRAIGHT void stream_waits(const struct gmod_call *c)
{
	struct gmod_event_proof covered = c->covered;

	if (!gmod_is_captured(c->stream, c->flavour))
		gmod_stream_waits(gmod_waited_stream(c->stream, c->flavour), &covered, gmod_ticks());
}

STRAIGHT void event_shared(const struct gmod_call *c)
{
	gmod_event_shared(gmod_handle(*c->shared));
}

STRAIGHT void capture_began(const struct gmod_call *c)
{
	(void)c;
	gmod_capture_began();
}

STRAIGHT void graph_updated(const struct gmod_call *c)
{
	gmod_graph_updated(c->graph);
}

STRAIGHT void count_foreign(const struct gmod_call *c)
{
	gmod_count(c->counter, 1);
}

/* The stream may be held up for as long as somebody likes: the device is not at rest meanwhile. */
STRAIGHT void stream_held(const struct gmod_call *c)
{
	struct gmod_thread *t = gmod_thread_self();
	uint64_t context;

	if (!t || gmod_is_captured(c->stream, c->flavour))
		return;
	context = gmod_current_context();
	gmod_note_last_launch(t, context, gmod_stream_key(gmod_handle(c->stream), c->flavour, context), gmod_ticks());
}

/* ---- the roles ---- */

/*
 * What waits in a stream of allocations in stream order (lib/buffers/ordered.h): the call arms it, as copies and fills
 * do; the call joins that stream to others, by the legacy stream, or has it waited for; or it lets others come behind
 * any.
 */
enum order { NO_ORDER, ARMS, JOINS, JOINS_AND_WAITS, PASSES };

static const struct gmod_role_does {
	bool (*refuses)(struct gmod_call *c);         /* NULL: whatever it is asked, the driver decides */
	void (*prepare)(struct gmod_call *c);         /* or NULL */
	void (*succeeded)(const struct gmod_call *c); /* or NULL */
	enum order order;
	bool timed;  /* when it began says what it proves */
	bool blames; /* a copy that the driver refuses may be reported */
	bool noted;  /* something was done, or waited for, so that the monitor looks */
	bool waited;
	bool vouches; /* its success says that work has gone well: not once a dump says otherwise */
} gmod_roles[GMOD_ROLES] = {
    [GMOD_COPY] = {.refuses = refuses_copy, .order = ARMS, .blames = true, .noted = true, .vouches = true},
    [GMOD_COPY_TO_HOST] = {.refuses = refuses_copy,
			   .succeeded = prove_copied,
			   .order = ARMS,
			   .blames = true,
			   .noted = true,
			   .vouches = true,
			   .timed = true},
    [GMOD_COPIES] = {.refuses = refuses_batch, .order = PASSES, .noted = true, .vouches = true},
    [GMOD_FILL] = {.refuses = refuses_fill, .order = ARMS, .blames = true, .noted = true},
    [GMOD_WORD] = {.refuses = refuses_words, .succeeded = stream_held, .order = PASSES, .noted = true},
    [GMOD_ADVICE] = {.refuses = refuses_advice, .order = PASSES},
    [GMOD_WAIT] = {.succeeded = prove_stream,
		   .order = JOINS_AND_WAITS,
		   .noted = true,
		   .waited = true,
		   .vouches = true,
		   .timed = true},
    [GMOD_WAIT_CONTEXT] = {.prepare = ask_context,
			   .succeeded = prove_context,
			   .order = PASSES,
			   .noted = true,
			   .waited = true,
			   .vouches = true,
			   .timed = true},
    [GMOD_WAIT_EVENT] =
	{.prepare = ask_event, .succeeded = prove_event, .noted = true, .waited = true, .vouches = true},
    [GMOD_RECORD] = {.prepare = forget_event, .succeeded = event_recorded, .order = JOINS_AND_WAITS, .timed = true},
    /* An event over a whole context stands for no one stream: it proves nothing here. */
    [GMOD_RECORD_CONTEXT] = {.prepare = forget_event, .order = PASSES},
    [GMOD_JOIN] = {.prepare = ask_event, .succeeded = stream_waits, .order = JOINS},
    [GMOD_DESTROY_STREAM] = {.prepare = end_stream, .noted = true, .waited = true},
    [GMOD_DESTROY_EVENT] = {.prepare = end_event},
    [GMOD_SHARE_EVENT] = {.succeeded = event_shared},
    [GMOD_BEGIN_CAPTURE] = {.succeeded = capture_began, .order = PASSES},
    [GMOD_UPDATE_GRAPH] = {.succeeded = graph_updated},
    [GMOD_ORDER] = {.order = PASSES, .noted = true},
    [GMOD_HOLD] = {.succeeded = stream_held, .order = PASSES, .noted = true},
    [GMOD_DUMPS] = {.prepare = leave_dumps},
    [GMOD_FOREIGN] = {.succeeded = count_foreign, .order = PASSES, .noted = true},
};

STRAIGHT void put_in_order(const struct gmod_call *c, enum order order)
{
	if (order == PASSES)
		gmod_ordered_passed();
	else if (order == JOINS || order == JOINS_AND_WAITS)
		gmod_ordered_joined(c->stream, c->flavour, order == JOINS_AND_WAITS);
	else if (order == ARMS &&
		 __builtin_expect(atomic_load_explicit(&gmod_hot.ordered, memory_order_relaxed) != 0, 0))
		gmod_ordered_arm_in(c->stream, c->flavour);
}

/* Before the driver is called. false: it must not be, for it would let through what it refuses natively. */
STRAIGHT bool gmod_call_begin(enum gmod_role of, struct gmod_call *c)
{
	const struct gmod_role_does *role = &gmod_roles[of];

	if (role->refuses && role->refuses(c))
		return false;
	/* First of all: what is launched meanwhile is not waited for. */
	if (role->timed)
		c->began = gmod_ticks();
	if (role->prepare && gmod_on())
		role->prepare(c);
	put_in_order(c, role->order);
	return true;
}

/* After it, with what it said. A query that says "not ready" waited for nothing: programs poll with it. */
STRAIGHT CUresult gmod_call_end(enum gmod_role of, const struct gmod_call *c, CUresult r)
{
	const struct gmod_role_does *role = &gmod_roles[of];

	if (r == CUDA_SUCCESS && role->vouches && gmod_has_faulted())
		r = gmod_fault_late();
	if (r == CUDA_ERROR_NOT_READY && role->waited)
		return r;
	if (r == CUDA_SUCCESS && role->succeeded && gmod_on())
		role->succeeded(c);
	if (r == CUDA_ERROR_INVALID_VALUE && role->blames && gmod_on() &&
	    !gmod_misuse_refused(c->dst, c->size, c->entry_point, r))
		gmod_misuse_refused(c->src, c->size, c->entry_point, r);
	if (role->noted)
		gmod_noted();
	if (r == CUDA_SUCCESS && role->waited && gmod_on())
		gmod_patrol_waited();
	return gmod_done(r, c->entry_point);
}

#endif
