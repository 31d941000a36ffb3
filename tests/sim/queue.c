/*
 * Ops, the workers that run them, and waiting for them.
 *
 * An op is done exactly once, and only its stream's worker makes it so, or who submits it (is_done_at_once()). It
 * runs when it is the first of its stream and everything in deps is done; deps are always older, so there is no cycle.
 * An op of a context with a sticky error is done without being run. References: one of the queue until it is done, one
 * of stream->last, one of every event, dependency and waiter.
 */
#include "sim.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct op *op_hold(struct op *op)
{
	if (op)
		op->refs++;
	return op;
}

static void drop_deps(struct op *op)
{
	for (size_t i = 0; i < op->dep_count; i++)
		op_drop(op->deps[i]);
	free(op->deps);
	op->deps = NULL;
	op->dep_count = 0;
}

void op_drop(struct op *op)
{
	if (!op || --op->refs)
		return;
	drop_deps(op);
	work_clear(&op->work);
	free(op);
}

static void wait_done(struct op *op)
{
	while (!op->done && sim.state != SIM_TORN_DOWN)
		pthread_cond_wait(&sim.done, sim_the_lock());
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* All contexts of the process go with it, of other devices too (measured on two H100s, driver 580). */
void queue_break_all(CUdevice device, CUresult error)
{
	sim.device[device].lost = error;
	for (CUcontext c = sim.contexts; c; c = c->next)
		if (!c->sticky)
			c->sticky = error;
}

/* The first of its stream. */
static void run_op(CUstream stream, struct op *op)
{
	CUresult r;

	for (size_t i = 0; i < op->dep_count; i++)
		wait_done(op->deps[i]);
	drop_deps(op);
	op->started = true;
	if (op->work.kind != WORK_NONE && !stream->ctx->sticky && sim.state != SIM_TORN_DOWN) {
		sim_unlock();
		if (op->work.kind == WORK_COPY)
			inject_stall("copy");
		r = work_run(stream->ctx, &op->work);
		sim_lock();
		if (r && !stream->ctx->sticky)
			queue_break_all(stream->ctx->device, r);
	}
	work_clear(&op->work);
	op->done = true;
	op->done_ns = now_ns();
	pthread_cond_broadcast(&sim.done);
}

static void run_first(CUstream stream, struct op *op)
{
	run_op(stream, op);
	stream->first = op->next;
	op_drop(op);
}

void stream_free(CUstream stream)
{
	UNLINK(stream->ctx->streams, stream);
	op_drop(stream->last);
	pthread_cond_destroy(&stream->wake);
	free(stream->tips);
	free(stream);
}

static void *worker(void *arg)
{
	CUstream stream = arg;
	struct op *op;

	sim_lock();
	for (;;) {
		while (stream->running_at_once || (!stream->first && !stream->destroyed))
			pthread_cond_wait(&stream->wake, sim_the_lock());
		op = stream->first;
		if (!op)
			break;
		run_first(stream, op);
	}
	stream_free(stream);
	sim_unlock();
	return NULL;
}

/* The program's signals are not for the driver's threads; faults are. */
bool queue_start_thread(void *(*body)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	bool started;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attr, body, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

static void add_dep(struct op *op, struct op *dep)
{
	if (!dep || dep->done)
		return;
	op->deps = realloc(op->deps, (op->dep_count + 1) * sizeof(*op->deps));
	op->deps[op->dep_count++] = op_hold(dep);
}

/* The legacy stream waits for the blocking streams, and they for it. */
static void add_legacy_deps(struct op *op, CUstream stream)
{
	CUcontext ctx = stream->ctx;

	if (stream == ctx->legacy) {
		for (CUstream s = ctx->streams; s; s = s->next)
			if (s != stream && !(s->flags & CU_STREAM_NON_BLOCKING))
				add_dep(op, s->last);
	} else if (!(stream->flags & CU_STREAM_NON_BLOCKING) && ctx->legacy) {
		add_dep(op, ctx->legacy->last);
	}
}

static void enqueue(CUstream stream, struct op *op)
{
	struct op **link = &stream->first;

	if (stream->first)
		link = &stream->last->next;
	*link = op;
	op->refs++; /* stream->last's */
	op_drop(stream->last);
	stream->last = op;
}

/*
 * A device makes a small copy in microseconds, however busy the CPUs are; a worker may have to wait for one. Only those
 * to the device, and of streams that nothing waits for by itself, so that what waits for what stays as it is.
 */
static bool is_done_at_once(CUstream stream, const struct op *op)
{
	const struct work_copy *c = &op->work.copy;

	return stream->flags & CU_STREAM_NON_BLOCKING && stream->first == op && !op->dep_count &&
	       op->work.kind == WORK_COPY && !inject_may_stall("copy") && c->sent &&
	       c->width * c->height * c->depth <= 4096;
}

/* Takes over the work, also when it fails, and may give up the lock. *out, if wanted, is a reference for the caller. */
CUresult queue_submit(CUstream stream, struct work *work, struct op *const *deps, size_t dep_count, struct op **out)
{
	struct op *op;

	if (!stream->working)
		stream->working = queue_start_thread(worker, stream);
	if (!stream->working) {
		work_clear(work);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	op = calloc(1, sizeof(*op));
	op->refs = 1; /* the queue's */
	op->stream = stream;
	op->work = *work;
	for (size_t i = 0; i < dep_count; i++)
		add_dep(op, deps[i]);
	add_legacy_deps(op, stream);
	enqueue(stream, op);
	if (out)
		*out = op_hold(op);
	if (is_done_at_once(stream, op)) {
		stream->running_at_once = true;
		run_first(stream, op);
		stream->running_at_once = false;
	}
	pthread_cond_signal(&stream->wake);
	return CUDA_SUCCESS;
}

/* Does an op that is not done, by its stream's order and by what it waits for, come behind that other one? */
bool queue_is_behind(const struct op *op, const struct op *other)
{
	const struct op *o = op && !op->done ? op->stream->first : NULL;

	for (; o; o = o == op ? NULL : o->next) {
		if (o == other)
			return true;
		for (size_t i = 0; i < o->dep_count; i++)
			if (queue_is_behind(o->deps[i], other))
				return true;
	}
	return false;
}

/* Every wait gives up the lock. The context may meanwhile be destroyed, but its memory stays. */
CUresult queue_wait_op(CUcontext ctx, struct op *op)
{
	if (op) {
		op_hold(op);
		wait_done(op);
		op_drop(op);
	}
	return sim.state == SIM_TORN_DOWN ? CUDA_ERROR_DEINITIALIZED : ctx->sticky;
}

CUresult queue_wait_stream(CUstream stream)
{
	return queue_wait_op(stream->ctx, stream->last);
}

bool queue_idle(CUstream stream)
{
	return !stream->last || stream->last->done;
}

/* The streams of a context and of the green ones in it, one after another; NULL at first and at the end. */
static CUstream next_stream(CUcontext ctx, CUcontext *of, CUstream s)
{
	for (s = s ? s->next : NULL; !s; s = (*of)->streams) {
		do
			*of = *of ? (*of)->next : sim.contexts;
		while (*of && *of != ctx && (*of)->owner != ctx);
		if (!*of)
			return NULL;
	}
	return s;
}

/* The unfinished last ops of all of these, held. */
static size_t last_ops(CUcontext ctx, struct op ***out)
{
	CUcontext of = NULL;
	size_t count = 0;

	for (CUstream s = NULL; (s = next_stream(ctx, &of, s));)
		count++;
	*out = calloc(count ? count : 1, sizeof(**out));
	count = 0;
	for (CUstream s = NULL; (s = next_stream(ctx, &of, s));)
		if (!queue_idle(s))
			(*out)[count++] = op_hold(s->last);
	return count;
}

static void drop_ops(struct op **ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		op_drop(ops[i]);
	free(ops);
}

CUresult queue_wait_context(CUcontext ctx)
{
	struct op **ops;
	size_t count = last_ops(ctx, &ops);

	for (size_t i = 0; i < count; i++)
		wait_done(ops[i]);
	drop_ops(ops, count);
	return queue_wait_op(ctx, NULL);
}

static bool work_has(const struct work *work, CUlibrary library)
{
	if (work->kind == WORK_KERNEL)
		return library_has(library, work->kernel.function);
	if (work->kind == WORK_GRAPH)
		for (size_t i = 0; i < work->graph.count; i++)
			if (work_has(&work->graph.list[i], library))
				return true;
	return false;
}

/* One that is not done and has a kernel of it, in any context. */
static struct op *op_with(CUlibrary library)
{
	for (CUcontext ctx = sim.contexts; ctx; ctx = ctx->next)
		for (CUstream s = ctx->streams; s; s = s->next)
			for (struct op *op = s->first; op; op = op->next)
				if (!op->done && work_has(&op->work, library))
					return op_hold(op);
	return NULL;
}

void queue_wait_library(CUlibrary library)
{
	struct op *op;

	while (sim.state != SIM_TORN_DOWN && (op = op_with(library))) {
		wait_done(op);
		op_drop(op);
	}
}

/* Work behind everything the context has been given so far, which holds up nothing itself. */
CUresult queue_after_everything(CUcontext ctx, struct work *work, struct op **out)
{
	struct op **ops;
	size_t count = last_ops(ctx, &ops);
	CUstream own = stream_new(ctx, CU_STREAM_NON_BLOCKING, 0);
	CUresult r = queue_submit(own, work, ops, count, out);

	own->destroyed = true;
	if (!own->working)
		stream_free(own);
	drop_ops(ops, count);
	return r;
}
