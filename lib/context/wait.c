#include "lib/context/wait.h"

#include "lib/base/facts.h"
#include "lib/driver/errors.h"
#include "monitor/registry/layout.h"

uint64_t gmod_context_buffer(struct gmod_context *c, struct gmod_tiny *tiny)
{
	unsigned life = gmod_context_life(c);
	CUstreamCaptureMode mode;
	CUdeviceptr fresh = 0;

	/* acquire: at is this context's. What was an earlier one's may be anybody's now. */
	if (atomic_load_explicit(&tiny->life, memory_order_acquire) == life)
		return atomic_load_explicit(&tiny->at, memory_order_relaxed);
	if (atomic_flag_test_and_set_explicit(&tiny->making, memory_order_acquire))
		return 0;
	/* Another thread may just have made it. */
	if (atomic_load_explicit(&tiny->life, memory_order_relaxed) == life) {
		fresh = atomic_load_explicit(&tiny->at, memory_order_relaxed);
	} else {
		mode = gmod_relaxed_begin();
		if (NEXT(cuMemAlloc_v2)(&fresh, GMOD_EXPORT_PAGE) == CUDA_SUCCESS) {
			atomic_store_explicit(&tiny->at, fresh, memory_order_relaxed);
			/* release: see above */
			atomic_store_explicit(&tiny->life, life, memory_order_release);
		} else {
			gmod_degraded("cuMemAlloc of a context's buffer");
		}
		gmod_relaxed_end(mode);
	}
	atomic_flag_clear_explicit(&tiny->making, memory_order_release);
	return fresh;
}

CUresult gmod_context_answer_of_free(struct gmod_context *c)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	CUdeviceptr tiny = 0;
	CUresult r;

	gmod_context_buffer(c, &c->tiny);
	r = NEXT(cuMemAlloc_v2)(&tiny, 1);
	if (r == CUDA_SUCCESS)
		r = NEXT(cuMemFree_v2)(tiny);
	else if (!gmod_is_answer_of_free(r))
		r = NEXT(cuCtxSynchronize)();
	gmod_relaxed_end(mode);
	return gmod_is_answer_of_free(r) ? r : CUDA_SUCCESS;
}

bool gmod_context_wait(struct gmod_context *c)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	CUdeviceptr tiny = 0;
	bool waited;

	if (c)
		gmod_context_buffer(c, &c->tiny);
	if (NEXT(cuMemAlloc_v2)(&tiny, 1) != CUDA_SUCCESS) {
		gmod_degraded("cuMemAlloc before a wait");
		if (NEXT(cuMemAllocManaged)(&tiny, 1, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS)
			tiny = 0;
	}
	waited = tiny && NEXT(cuMemFree_v2)(tiny) == CUDA_SUCCESS;
	if (!waited)
		gmod_degraded("waiting for a context");
	gmod_relaxed_end(mode);
	return waited;
}
