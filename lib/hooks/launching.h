/* Launches: one record each, filled before the driver is called and stamped when it has returned. */
#ifndef GMOD_LIB_HOOKS_LAUNCHING_H
#define GMOD_LIB_HOOKS_LAUNCHING_H

#include "device/loading.h"
#include "lib/buffers/confirm.h"
#include "lib/hooks/hook.h"
#include "lib/hooks/journal.h"
#include "lib/hooks/parameters.h"

struct gmod_launching {
	struct gmod_thread *thread;
	struct gmod_launch *record; /* NULL: not recorded */
	unsigned trial;             /* 0: none (lib/buffers/confirm.h) */
};

/* function: or the executable graph. */
STRAIGHT struct gmod_launching gmod_launching_begin(uint64_t function, CUstream stream, enum gmod_flavour flavour,
						    bool is_graph, void *const *params, void *const *extra)
{
	struct gmod_launching l = {NULL, NULL, 0};
	uint64_t context, key;

	if (__builtin_expect(!gmod_on() || !(l.thread = gmod_thread_self()), 0))
		return l;
	context = gmod_current_context();
	gmod_units_prepare(context, is_graph);
	if (__builtin_expect(gmod_is_captured(stream, flavour), 0))
		return l;
	key = gmod_stream_key(gmod_handle(stream), flavour, context);
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.ordered, memory_order_relaxed) != 0, 0))
		gmod_ordered_arm(&(struct gmod_order){gmod_explicit(stream, flavour), key});
	gmod_parameters(l.thread, function, params, extra);
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.confirm, memory_order_relaxed) != 0, 0))
		l.trial =
		    gmod_confirm_begin(&(struct gmod_order){gmod_explicit(stream, flavour), key}, function, is_graph);
	l.record = gmod_launch_begin(l.thread, context, key, function, is_graph);
	return l;
}

/* shared: bytes, as asked for; config: whose attributes say more, or NULL. */
STRAIGHT void gmod_launching_shape(const struct gmod_launching *l, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
				   unsigned by, unsigned bz, unsigned shared, const CUlaunchConfig *config)
{
	if (__builtin_expect(!l->record, 0))
		return;
	atomic_store_explicit(&l->record->grid[0], gx, memory_order_relaxed);
	atomic_store_explicit(&l->record->grid[1], gy, memory_order_relaxed);
	atomic_store_explicit(&l->record->grid[2], gz, memory_order_relaxed);
	atomic_store_explicit(&l->record->block[0], bx, memory_order_relaxed);
	atomic_store_explicit(&l->record->block[1], by, memory_order_relaxed);
	atomic_store_explicit(&l->record->block[2], bz, memory_order_relaxed);
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.journal, memory_order_relaxed), 0))
		gmod_journal_hook(l->thread, l->record,
				  &(struct gmod_journal_shape){{gx, gy, gz}, {bx, by, bz}, .shared = shared}, config);
}

/* The configuration may be missing: that is for the driver to say. */
STRAIGHT struct gmod_launching gmod_launching_begin_config(const CUlaunchConfig *c, uint64_t function,
							   enum gmod_flavour flavour, void *const *params,
							   void *const *extra)
{
	struct gmod_launching l = {NULL, NULL, 0};

	if (!c)
		return l;
	l = gmod_launching_begin(function, c->hStream, flavour, false, params, extra);
	gmod_launching_shape(&l, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
			     c->sharedMemBytes, c);
	return l;
}

STRAIGHT CUresult gmod_launching_end(const struct gmod_launching *l, CUresult r, const char *entry_point)
{
	if (__builtin_expect(l->record != NULL, 1))
		gmod_launch_end(l->thread, l->record, r == CUDA_SUCCESS);
	if (__builtin_expect(l->trial != 0, 0))
		gmod_confirm_end(l->trial, l->thread, r == CUDA_SUCCESS);
	return gmod_done(r, entry_point);
}

#endif
