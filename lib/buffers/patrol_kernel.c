#include "lib/buffers/patrol_kernel.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/base/phase.h"
#include "lib/base/worker.h"
#include "lib/context/capture.h"

/* lib/buffers/patrol_code.S */
extern const char gmod_patrol_ptx[] __attribute__((visibility("hidden")));

static atomic_int state; /* enum gmod_patrol_kernel */
static CUkernel kernel;

static void await_the_compiler(void)
{
	uint64_t deadline = GMOD_SECONDS(5);

	while (atomic_load_explicit(&state, memory_order_acquire) == GMOD_KERNEL_COMING && gmod_phase_is_ours() &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
}

/*
 * A process that ends while the driver's compiler works crashes (measured): the compiler's handler at exit takes away
 * what it works with. It is loaded here first, and not by the driver, so that a handler of ours comes before that one.
 */
static void have_exit_wait(void)
{
	dlopen("libnvidia-ptxjitcompiler.so.1", RTLD_LAZY);
	dlerror();
	atexit(await_the_compiler);
}

/* Where it cannot be had the gather goes on alone: an older driver, or one without its compiler. */
static CUresult compile(void)
{
	CUlibrary library;
	CUresult r;

	if (!HAVE(cuLibraryLoadData) || !HAVE(cuLibraryGetKernel) || !HAVE(cuKernelGetFunction))
		return CUDA_ERROR_NOT_SUPPORTED;
	have_exit_wait();
	r = NEXT(cuLibraryLoadData)(&library, gmod_patrol_ptx, NULL, NULL, 0, NULL, NULL, 0);
	return r == CUDA_SUCCESS ? NEXT(cuLibraryGetKernel)(&kernel, library, "gmod_patrol") : r;
}

static void work(void)
{
	struct gmod_busy busy = gmod_busy_begin();
	CUresult r = busy.on ? compile() : CUDA_ERROR_NOT_INITIALIZED;

	gmod_busy_end(busy);
	if (r != CUDA_SUCCESS)
		gmod_log_note(2, "no patrol: the driver does not take its kernel (error %d); copies look instead", r);
	/* release: the kernel is there */
	atomic_store_explicit(&state, r == CUDA_SUCCESS ? GMOD_KERNEL_THERE : GMOD_KERNEL_REFUSED,
			      memory_order_release);
}

/*
 * All that is loaded goes to the contexts at once then, beside whatever runs there, which it may have to wait for. It
 * may be so where the driver does not say.
 */
static bool is_eager(void)
{
	CUmoduleLoadingMode mode;

	return !HAVE(cuModuleGetLoadingMode) || NEXT(cuModuleGetLoadingMode)(&mode) != CUDA_SUCCESS ||
	       mode == CU_MODULE_EAGER_LOADING;
}

static void ask(void)
{
	static const struct gmod_worker worker = {"gmod-patrol", work};
	const char *why = gmod_is_under_a_tool() ? "a profiler or debugger would see its kernel"
			  : is_eager()           ? "modules are loaded eagerly, and its own might wait for kernels"
						 : NULL;

	atomic_store_explicit(&state, why ? GMOD_KERNEL_REFUSED : GMOD_KERNEL_COMING, memory_order_relaxed);
	if (why)
		gmod_log_note(2, "no patrol: %s; copies look instead", why);
	else if (gmod_worker_start(&worker))
		atomic_store_explicit(&state, GMOD_KERNEL_REFUSED, memory_order_relaxed);
}

enum gmod_patrol_kernel gmod_patrol_kernel(void)
{
	if (atomic_load_explicit(&state, memory_order_relaxed) == GMOD_KERNEL_UNASKED)
		ask();
	return (enum gmod_patrol_kernel)atomic_load_explicit(&state, memory_order_acquire);
}

/* ---- the function of a context ---- */

atomic_int gmod_patrol_wanted;

int gmod_patrol_to_stage(struct gmod_patrol_ready *r, enum gmod_patrol_stage stage)
{
	/* release: what this one has done is there for the next; acquire: and what the one before has */
	int before = atomic_exchange_explicit(&r->stage, (int)stage, memory_order_acq_rel);

	if ((before == GMOD_WANTED) != (stage == GMOD_WANTED))
		atomic_fetch_add_explicit(&gmod_patrol_wanted, stage == GMOD_WANTED ? 1 : -1, memory_order_relaxed);
	return before;
}

void gmod_patrol_get(struct gmod_patrol_ready *r, unsigned life)
{
	CUstreamCaptureMode mode;

	if (atomic_load_explicit(&r->stage, memory_order_relaxed) != GMOD_WANTED ||
	    gmod_patrol_to_stage(r, GMOD_GETTING) != GMOD_WANTED)
		return;
	r->life = life;
	mode = gmod_relaxed_begin();
	if (NEXT(cuKernelGetFunction)(&r->function, kernel) != CUDA_SUCCESS)
		r->function = NULL;
	gmod_relaxed_end(mode);
	gmod_patrol_to_stage(r, GMOD_GOT);
}
