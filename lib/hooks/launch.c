/* Launches: one record each, filled before the driver is called and stamped when it has returned. */
#include "device/guard.h"
#include "device/loading.h"
#include "lib/context/capture.h"
#include "lib/context/current.h"
#include "lib/hooks/hook.h"
#include "lib/hooks/parameters.h"

struct launching {
	struct gmod_thread *thread;
	struct gmod_launch *record; /* NULL: not recorded */
};

/*
 * A program may launch some hundred thousand times a second, and each time finds the caches full of its own: what a
 * hook runs through here is in one piece, without calls, and what is rare is elsewhere.
 */
#define STRAIGHT static inline __attribute__((always_inline))

STRAIGHT struct launching launch_begin(const void *function, CUstream stream, enum gmod_flavour flavour, bool is_graph,
				       void *const *params, void *const *extra)
{
	struct launching l = {NULL, NULL};
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
	gmod_parameters(l.thread, gmod_handle(function), params, extra);
	l.record = gmod_launch_begin(l.thread, context, key, gmod_handle(function), is_graph);
	return l;
}

STRAIGHT void shape(const struct launching *l, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		    unsigned bz)
{
	if (__builtin_expect(!l->record, 0))
		return;
	atomic_store_explicit(&l->record->grid[0], gx, memory_order_relaxed);
	atomic_store_explicit(&l->record->grid[1], gy, memory_order_relaxed);
	atomic_store_explicit(&l->record->grid[2], gz, memory_order_relaxed);
	atomic_store_explicit(&l->record->block[0], bx, memory_order_relaxed);
	atomic_store_explicit(&l->record->block[1], by, memory_order_relaxed);
	atomic_store_explicit(&l->record->block[2], bz, memory_order_relaxed);
}

STRAIGHT CUresult launch_end(const struct launching *l, CUresult r, const char *entry_point)
{
	if (__builtin_expect(l->record != NULL, 1))
		gmod_launch_end(l->thread, l->record, r == CUDA_SUCCESS);
	return gmod_done(r, entry_point);
}

GMOD_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
				    unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
	struct launching l = launch_begin(f, stream, GMOD_LEGACY, false, params, extra);

	shape(&l, gx, gy, gz, bx, by, bz);
	return launch_end(&l, NEXT(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra), __func__);
}

GMOD_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
					 unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
	struct launching l = launch_begin(f, stream, GMOD_PER_THREAD, false, params, extra);

	shape(&l, gx, gy, gz, bx, by, bz);
	return launch_end(&l, NEXT(cuLaunchKernel_ptsz)(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra),
			  __func__);
}

STRAIGHT struct launching config_begin(const CUlaunchConfig *c, CUfunction f, enum gmod_flavour flavour,
				       void *const *params, void *const *extra)
{
	struct launching l = {NULL, NULL};

	if (!c)
		return l;
	l = launch_begin(f, c->hStream, flavour, false, params, extra);
	shape(&l, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ);
	return l;
}

GMOD_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	struct launching l = config_begin(config, f, GMOD_LEGACY, params, extra);

	return launch_end(&l, NEXT(cuLaunchKernelEx)(config, f, params, extra), __func__);
}

GMOD_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	struct launching l = config_begin(config, f, GMOD_PER_THREAD, params, extra);

	return launch_end(&l, NEXT(cuLaunchKernelEx_ptsz)(config, f, params, extra), __func__);
}

GMOD_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
					       unsigned by, unsigned bz, unsigned shared, CUstream stream,
					       void **params)
{
	GMOD_GUARD_PAUSED;
	struct launching l = launch_begin(f, stream, GMOD_LEGACY, false, params, NULL);

	shape(&l, gx, gy, gz, bx, by, bz);
	return launch_end(&l, NEXT(cuLaunchCooperativeKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, params),
			  __func__);
}

GMOD_EXPORT CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
						    unsigned by, unsigned bz, unsigned shared, CUstream stream,
						    void **params)
{
	GMOD_GUARD_PAUSED;
	struct launching l = launch_begin(f, stream, GMOD_PER_THREAD, false, params, NULL);

	shape(&l, gx, gy, gz, bx, by, bz);
	return launch_end(&l, NEXT(cuLaunchCooperativeKernel_ptsz)(f, gx, gy, gz, bx, by, bz, shared, stream, params),
			  __func__);
}

/*
 * One record for the first device's share: the others run the same function. Their contexts are not looked at: mallocN
 * is CUDA's malloc where no other launch has made a heap.
 */
GMOD_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned count, unsigned flags)
{
	GMOD_GUARD_PAUSED;
	const CUDA_LAUNCH_PARAMS *p = count ? list : NULL;
	struct launching l = {NULL, NULL};

	gmod_ordered_passed(); /* all streams of the list come behind each other */
	if (p) {
		l = launch_begin(p->function, p->hStream, GMOD_LEGACY, false, p->kernelParams, NULL);
		shape(&l, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ);
	}
	return launch_end(&l, NEXT(cuLaunchCooperativeKernelMultiDevice)(list, count, flags), __func__);
}

GMOD_EXPORT CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
	struct launching l = launch_begin(graph, stream, GMOD_LEGACY, true, NULL, NULL);

	return launch_end(&l, NEXT(cuGraphLaunch)(graph, stream), __func__);
}

GMOD_EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec graph, CUstream stream)
{
	struct launching l = launch_begin(graph, stream, GMOD_PER_THREAD, true, NULL, NULL);

	return launch_end(&l, NEXT(cuGraphLaunch_ptsz)(graph, stream), __func__);
}
