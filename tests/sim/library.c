/* Libraries: kernels of no context; a module is made for each context that asks for one. */
#include "sim.h"

#include <stdlib.h>

_Static_assert(offsetof(struct CUkern_st, code) == offsetof(struct CUfunc_st, code),
	       "a launch takes a CUkernel for a CUfunction");

struct CUlib_st {
	enum magic magic;
	struct image image;
	struct CUkern_st *kernels;
	CUmodule *modules;
	size_t module_count;
};

/* The kernel of a CUfunction, or of a CUkernel cast to one. */
const struct gt_kernel *code_of(CUfunction f)
{
	return f && (f->magic == MAGIC_FUNCTION || f->magic == MAGIC_KERNEL) ? f->code : NULL;
}

static bool library_ok(CUlibrary library)
{
	return library && library->magic == MAGIC_LIBRARY;
}

static bool kernel_ok(CUkernel kernel)
{
	return kernel && kernel->magic == MAGIC_KERNEL;
}

/* f: as it was passed to a launch, whose module may be gone. */
bool library_has(CUlibrary library, CUfunction f)
{
	size_t count = library->image.count;
	const struct CUkern_st *kernel = (const struct CUkern_st *)f;

	for (size_t i = 0; i < library->module_count; i++)
		if (f >= library->modules[i]->functions && f < library->modules[i]->functions + count)
			return true;
	return kernel >= library->kernels && kernel < library->kernels + count;
}

static CUresult library_new(const struct image *image, CUlibrary *out)
{
	CUlibrary library = calloc(1, sizeof(*library));

	library->magic = MAGIC_LIBRARY;
	sim.held.libraries++;
	library->image = *image;
	library->kernels = calloc(image->count ? image->count : 1, sizeof(*library->kernels));
	for (size_t i = 0; i < image->count; i++)
		library->kernels[i] = (struct CUkern_st){MAGIC_KERNEL, image->kernels[i], library};
	*out = library;
	return CUDA_SUCCESS;
}

static CUresult load_file(CUlibrary *out, const char *path)
{
	struct image image;
	CUresult r = out && path ? image_open(path, &image) : CUDA_ERROR_INVALID_VALUE;

	return r ?: library_new(&image, out);
}

ENTRY(cuLibraryLoadFromFile, NEEDS_INIT,
      TAKES(CUlibrary *library, const char *fileName, CUjit_option *jitOptions, void **jitOptionsValues,
	    unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
	    unsigned int numLibraryOptions),
      load_file(library, fileName))

static CUresult load_data(CUlibrary *out, const void *data)
{
	struct image image;
	CUresult r = out ? image_read(data, &image) : CUDA_ERROR_INVALID_VALUE;

	return r ?: library_new(&image, out);
}

ENTRY(cuLibraryLoadData, NEEDS_INIT,
      TAKES(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
	    unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
	    unsigned int numLibraryOptions),
      load_data(library, code))

void library_forget_module(CUlibrary library, CUmodule module)
{
	for (size_t i = 0; i < library->module_count; i++)
		if (library->modules[i] == module)
			library->modules[i] = library->modules[--library->module_count];
}

/* Its code may be running. It waits for that and, unlike the unloading of a module, for nothing else. */
static CUresult unload(CUlibrary library)
{
	if (!library_ok(library))
		return CUDA_ERROR_INVALID_HANDLE;
	library->magic = 0;
	sim.held.libraries--;
	queue_wait_library(library);
	while (library->module_count)
		module_free(library->modules[0]);
	image_close(&library->image);
	for (size_t i = 0; i < library->image.count; i++)
		library->kernels[i].magic = 0;
	free(library->kernels);
	free(library->modules);
	free(library);
	return CUDA_SUCCESS;
}

ENTRY(cuLibraryUnload, NEEDS_INIT | UNSAFE_IN_CAPTURE, TAKES(CUlibrary library), unload(library))

static CUresult find(CUlibrary library, const struct gt_kernel *code, CUkernel *out)
{
	for (size_t i = 0; i < library->image.count; i++)
		if (library->kernels[i].code == code) {
			*out = &library->kernels[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

static CUresult get_kernel(CUkernel *out, CUlibrary library, const char *name)
{
	const struct gt_kernel *code;

	if (!out || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!library_ok(library))
		return CUDA_ERROR_INVALID_HANDLE;
	code = image_find(&library->image, name);
	return code ? find(library, code, out) : CUDA_ERROR_NOT_FOUND;
}

ENTRY(cuLibraryGetKernel, NEEDS_INIT, TAKES(CUkernel *pKernel, CUlibrary library, const char *name),
      get_kernel(pKernel, library, name))
ENTRY(cuLibraryGetKernelCount, NEEDS_INIT, TAKES(unsigned int *count, CUlibrary lib),
      ANSWER_OF(library_ok(lib), CUDA_ERROR_INVALID_HANDLE, count, lib->image.count))

static CUresult enumerate(CUkernel *out, unsigned count, CUlibrary library)
{
	if (!out || !count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!library_ok(library))
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < count && i < library->image.count; i++)
		out[i] = &library->kernels[i];
	return CUDA_SUCCESS;
}

ENTRY(cuLibraryEnumerateKernels, NEEDS_INIT, TAKES(CUkernel *kernels, unsigned int numKernels, CUlibrary lib),
      enumerate(kernels, numKernels, lib))

static CUresult get_module(CUcontext ctx, CUmodule *out, CUlibrary library)
{
	CUresult r;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!library_ok(library))
		return CUDA_ERROR_INVALID_HANDLE;
	for (size_t i = 0; i < library->module_count; i++)
		if (library->modules[i]->ctx == ctx) {
			*out = library->modules[i];
			return CUDA_SUCCESS;
		}
	r = wait_to_load(ctx) ?: module_new(ctx, &library->image, library, out);
	if (r)
		return r;
	library->modules = realloc(library->modules, (library->module_count + 1) * sizeof(*library->modules));
	library->modules[library->module_count++] = *out;
	return CUDA_SUCCESS;
}

ENTRY(cuLibraryGetModule, NEEDS_CONTEXT, TAKES(CUmodule *pMod, CUlibrary library), get_module(c.ctx, pMod, library))

CUresult kernel_function(CUcontext ctx, CUfunction *out, CUkernel kernel)
{
	CUmodule module;
	CUresult r;

	if (!out || !kernel_ok(kernel))
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	r = get_module(ctx, &module, kernel->library);
	if (!r)
		*out = module_function(module, kernel->code);
	return r;
}

ENTRY(cuKernelGetFunction, NEEDS_CONTEXT, TAKES(CUfunction *pFunc, CUkernel kernel),
      kernel_function(c.ctx, pFunc, kernel))
