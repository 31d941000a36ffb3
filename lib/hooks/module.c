/* Handles that carry kernel names. A name must be learned when its handle appears: it dies with its module. */
#include "device/loading.h"
#include "lib/context/capture.h"
#include "lib/driver/errors.h"
#include "lib/context/context.h"
#include "lib/hooks/family.h"
#include "lib/hooks/journal.h"
#include "lib/base/facts.h"
#include "monitor/launches/signatures.h"
#include "monitor/launches/names.h"

/* The context may have been made in a way that is not hooked. */
static void meet_context(void)
{
	CUcontext here = NULL;

	if (NEXT(cuCtxGetCurrent)(&here) != CUDA_SUCCESS)
		gmod_degraded("cuCtxGetCurrent");
	gmod_context_met(here);
}

/*
 * Loading may wait for the device, and be where an earlier kernel's error surfaces. Nobody takes it for an order: the
 * runtime loads a kernel's module when it is first launched, between the allocation and the launch.
 */
CUresult gmod_loaded(CUresult r, const char *entry_point)
{
	gmod_noted();
	return gmod_done(r, entry_point);
}

/* A module may be a unit: its kernels allocate for themselves. */
CUresult gmod_module_loaded(CUresult r, const CUmodule *module, const void *image, const char *file,
			    const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on()) {
		meet_context();
		gmod_unit_module(*module);
		if (gmod_journal_on())
			gmod_journal_loaded(gmod_handle(*module), image, SIZE_MAX, file);
	}
	return gmod_loaded(r, entry_point);
}

CUresult gmod_library_loaded(CUresult r, const CUlibrary *library, const void *image, const char *file,
			     const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on()) {
		meet_context();
		gmod_unit_library(*library);
		if (gmod_journal_on())
			gmod_journal_loaded(gmod_handle(*library), image, SIZE_MAX, file);
	}
	return gmod_loaded(r, entry_point);
}

/* Captures and host functions forbid it: then it is there still, which other errors do not say. */
static CUresult unloaded(CUresult r, uint64_t module, uint64_t began, const struct gmod_unit *u,
			 const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on()) {
		gmod_names_end(module, began);
		gmod_signatures_end(module, began);
	}
	if (gmod_is_capture_error(r) || r == CUDA_ERROR_NOT_PERMITTED)
		gmod_unit_stays(u);
	return gmod_loaded(r, entry_point);
}

/* What is linked is loaded as a cubin. Nobody was seen to link PTX that lies in a file: cuLinkAddFile() goes natively.
 */
GMOD_EXPORT CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
				      unsigned int count, CUjit_option *options, void **values)
{
	CUresult r = NEXT(cuLinkAddData_v2)(state, type, data, size, name, count, options, values);

	if (r == CUDA_SUCCESS && type == CU_JIT_INPUT_PTX && gmod_journal_on())
		gmod_journal_loaded(0, data, size, NULL);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuModuleUnload(CUmodule hmod)
{
	struct gmod_unit u = gmod_unit_unload(hmod);
	uint64_t began = gmod_ticks();

	gmod_fault_probe((CUcontext)(uintptr_t)gmod_current_context());
	gmod_ordered_passed();
	return unloaded(NEXT(cuModuleUnload)(hmod), gmod_handle(hmod), began, &u, __func__);
}

GMOD_EXPORT CUresult cuLibraryUnload(CUlibrary library)
{
	struct gmod_unit u = gmod_unit_unload(library);
	uint64_t began = gmod_ticks();

	gmod_fault_probe(NULL);
	gmod_ordered_passed();
	return unloaded(NEXT(cuLibraryUnload)(library), gmod_handle(library), began, &u, __func__);
}

/* Older drivers do not tell what parameters there are. */
static void learn_function(CUfunction function, const char *name, uint64_t module)
{
	gmod_name_learn(gmod_handle(function), name, module);
	if (HAVE(cuFuncGetParamInfo))
		gmod_signature_expect(gmod_handle(function), false, module);
}

static void learn_kernel(CUkernel kernel, const char *name, CUlibrary library)
{
	gmod_name_learn(gmod_handle(kernel), name, gmod_handle(library));
	if (HAVE(cuKernelGetParamInfo))
		gmod_signature_expect(gmod_handle(kernel), true, gmod_handle(library));
}

GMOD_EXPORT CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	CUresult r = NEXT(cuModuleGetFunction)(hfunc, hmod, name);

	if (r == CUDA_SUCCESS && gmod_on())
		learn_function(*hfunc, name, gmod_handle(hmod));
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
	CUresult r = NEXT(cuLibraryGetKernel)(pKernel, library, name);

	if (r == CUDA_SUCCESS && gmod_on())
		learn_kernel(*pKernel, name, library);
	return gmod_done(r, __func__);
}

/* A kernel's function in the current context has the kernel's name. */
GMOD_EXPORT CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	CUresult r = NEXT(cuKernelGetFunction)(pFunc, kernel);

	if (r == CUDA_SUCCESS && gmod_on()) {
		gmod_name_learn_as(gmod_handle(*pFunc), gmod_handle(kernel));
		gmod_signature_expect_as(gmod_handle(*pFunc), gmod_handle(kernel));
	}
	return gmod_done(r, __func__);
}

static void counted(CUresult r, unsigned *count)
{
	if (r == CUDA_SUCCESS)
		return;
	*count = 0;
	gmod_degraded("counting kernels");
}

GMOD_EXPORT CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
	CUresult r = NEXT(cuModuleEnumerateFunctions)(functions, numFunctions, mod);
	unsigned count = 0;
	const char *name;

	/* The array may be larger than what the module has: the rest of it is not written. */
	if (r == CUDA_SUCCESS && gmod_on() && HAVE(cuFuncGetName) && HAVE(cuModuleGetFunctionCount))
		counted(NEXT(cuModuleGetFunctionCount)(&count, mod), &count);
	for (unsigned i = 0; i < count && i < numFunctions; i++)
		if (NEXT(cuFuncGetName)(&name, functions[i]) == CUDA_SUCCESS && name)
			learn_function(functions[i], name, gmod_handle(mod));
		else
			gmod_degraded("cuFuncGetName");
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
	CUresult r = NEXT(cuLibraryEnumerateKernels)(kernels, numKernels, lib);
	unsigned count = 0;
	const char *name;

	if (r == CUDA_SUCCESS && gmod_on() && HAVE(cuKernelGetName) && HAVE(cuLibraryGetKernelCount))
		counted(NEXT(cuLibraryGetKernelCount)(&count, lib), &count);
	for (unsigned i = 0; i < count && i < numKernels; i++)
		if (NEXT(cuKernelGetName)(&name, kernels[i]) == CUDA_SUCCESS && name)
			learn_kernel(kernels[i], name, lib);
		else
			gmod_degraded("cuKernelGetName");
	return gmod_done(r, __func__);
}
