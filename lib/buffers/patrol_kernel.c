#include "lib/buffers/patrol_kernel.h"

#include "lib/base/facts.h"
#include "lib/base/log.h"

/* lib/buffers/patrol_code.S */
extern const char gmod_patrol_ptx[] __attribute__((visibility("hidden")));

static CUkernel kernel;

/* Where it cannot be had the gather goes on alone: an older driver, or one without its compiler. */
static CUresult compile(void)
{
	CUlibrary library;
	CUresult r;

	if (!HAVE(cuLibraryLoadData) || !HAVE(cuLibraryGetKernel) || !HAVE(cuKernelGetFunction))
		return CUDA_ERROR_NOT_SUPPORTED;
	r = NEXT(cuLibraryLoadData)(&library, gmod_patrol_ptx, NULL, NULL, 0, NULL, NULL, 0);
	if (r == CUDA_SUCCESS)
		r = NEXT(cuLibraryGetKernel)(&kernel, library, "gmod_patrol");
	return r;
}

bool gmod_patrol_compiled(void)
{
	static bool tried;
	CUresult r;

	if (tried)
		return kernel;
	tried = true;
	r = gmod_is_under_a_tool() ? CUDA_ERROR_NOT_PERMITTED : compile();
	if (r != CUDA_SUCCESS) {
		kernel = NULL;
		gmod_log_note(2, "no patrol: %s (error %d); copies look instead",
			      r == CUDA_ERROR_NOT_PERMITTED ? "a profiler or debugger would see its kernel"
							    : "the driver does not take its kernel",
			      r);
	}
	return kernel;
}

CUfunction gmod_patrol_function(void)
{
	CUfunction function = NULL;

	return NEXT(cuKernelGetFunction)(&function, kernel) == CUDA_SUCCESS ? function : NULL;
}
