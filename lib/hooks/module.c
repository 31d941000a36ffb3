/* Handles that carry kernel names. A name must be learned when its handle appears: it dies with its module. */
#include "device/loading.h"
#include "lib/hooks/family.h"
#include "lib/hooks/journal.h"
#include "lib/base/facts.h"
#include "monitor/launches/signatures.h"
#include "monitor/launches/names.h"

/* The context may have been made in a way that is not hooked. */
static void meet_context(void)
{
	CUcontext here = NULL;

	gmod_succeeded(NEXT(cuCtxGetCurrent)(&here), "cuCtxGetCurrent");
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

/* Its kernels may allocate for themselves. */
CUresult gmod_image_loaded(CUresult r, const CUmodule *module, const CUlibrary *library, const void *image,
			   const char *file, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on()) {
		void *handle = module ? (void *)*module : (void *)*library;

		meet_context();
		gmod_unit_loaded(handle, !module);
		if (gmod_journal_on())
			gmod_journal_loaded(gmod_handle(handle), image, SIZE_MAX, file);
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
static void learn_name(const void *handle, bool is_kernel, const char *name, const void *owner)
{
	gmod_name_learn(gmod_handle(handle), name, gmod_handle(owner));
	if (is_kernel ? HAVE(cuKernelGetParamInfo) : HAVE(cuFuncGetParamInfo))
		gmod_signature_expect(gmod_handle(handle), is_kernel, gmod_handle(owner));
}

GMOD_EXPORT CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	CUresult r = NEXT(cuModuleGetFunction)(hfunc, hmod, name);

	if (r == CUDA_SUCCESS && gmod_on())
		learn_name(*hfunc, false, name, hmod);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
	CUresult r = NEXT(cuLibraryGetKernel)(pKernel, library, name);

	if (r == CUDA_SUCCESS && gmod_on())
		learn_name(*pKernel, true, name, library);
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

GMOD_EXPORT CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
	CUresult r = NEXT(cuModuleEnumerateFunctions)(functions, numFunctions, mod);
	unsigned count = 0;
	const char *name;

	/* The array may be larger than what the module has: the rest of it is not written. */
	if (r == CUDA_SUCCESS && gmod_on() && HAVE(cuFuncGetName) && HAVE(cuModuleGetFunctionCount) &&
	    !gmod_succeeded(NEXT(cuModuleGetFunctionCount)(&count, mod), "counting kernels"))
		count = 0;
	for (unsigned i = 0; i < count && i < numFunctions; i++)
		if (gmod_succeeded(NEXT(cuFuncGetName)(&name, functions[i]), "cuFuncGetName") && name)
			learn_name(functions[i], false, name, mod);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
	CUresult r = NEXT(cuLibraryEnumerateKernels)(kernels, numKernels, lib);
	unsigned count = 0;
	const char *name;

	if (r == CUDA_SUCCESS && gmod_on() && HAVE(cuKernelGetName) && HAVE(cuLibraryGetKernelCount) &&
	    !gmod_succeeded(NEXT(cuLibraryGetKernelCount)(&count, lib), "counting kernels"))
		count = 0;
	for (unsigned i = 0; i < count && i < numKernels; i++)
		if (gmod_succeeded(NEXT(cuKernelGetName)(&name, kernels[i]), "cuKernelGetName") && name)
			learn_name(kernels[i], true, name, lib);
	return gmod_done(r, __func__);
}
