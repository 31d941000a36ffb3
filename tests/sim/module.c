/* Modules. A module's file is a shared object of kernels written in the dialect of tests/programs/kernels.h. */
#include "sim.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static CUresult read_table(struct image *image)
{
	const struct gt_kernel *const *(*list)(size_t *);
	void (**before_access)(uintptr_t at, size_t bytes, int write) = dlsym(image->handle, "gt_before_access");
	void (**faults)(enum gt_fault what, uintptr_t at, unsigned line) = dlsym(image->handle, "gt_faults");

	*(void **)&list = dlsym(image->handle, "gt_module_kernels");
	if (!list)
		return CUDA_ERROR_INVALID_IMAGE;
	if (faults)
		*faults = fault_said;
	if (before_access)
		*before_access = access_check;
	image->kernels = list(&image->count);
	return CUDA_SUCCESS;
}

static CUresult load(const char *path, struct image *out)
{
	char here[4096];
	CUresult r;

	/* Without a slash dlopen would search for a library of that name. */
	snprintf(here, sizeof(here), "%s%s", strchr(path, '/') ? "" : "./", path);
	if (access(here, R_OK))
		return CUDA_ERROR_FILE_NOT_FOUND;
	out->handle = dlopen(here, RTLD_NOW | RTLD_LOCAL);
	if (!out->handle)
		return CUDA_ERROR_INVALID_IMAGE;
	r = read_table(out);
	if (r)
		dlclose(out->handle);
	return r;
}

/* The loader has a lock of its own, and runs constructors: not under ours. */
CUresult image_open(const char *path, struct image *out)
{
	CUresult r;

	sim_unlock();
	r = load(path, out);
	sim_lock();
	return r;
}

/* As long as its section headers say, which are its last part. */
static size_t length_of(const void *data)
{
	const ElfW(Ehdr) *head = data;

	return memcmp(head->e_ident, ELFMAG, SELFMAG) ? 0 : head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
}

/* The loader reads files only. */
CUresult image_read(const void *data, struct image *out)
{
	size_t length = data ? length_of(data) : 0;
	CUresult r = CUDA_ERROR_INVALID_IMAGE;
	char path[64];
	int fd;

	if (data && patrol_is(data)) {
		*out = patrol_image();
		return CUDA_SUCCESS;
	}
	if (!length)
		return data ? r : CUDA_ERROR_INVALID_VALUE;
	fd = memfd_create("module", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, data, length) == (ssize_t)length)
		r = image_open(path, out);
	close(fd);
	return r;
}

void image_close(struct image *image)
{
	if (image->handle)
		dlclose(image->handle);
}

const struct gt_kernel *image_find(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->count; i++)
		if (!strcmp(image->kernels[i]->name, name))
			return image->kernels[i];
	return NULL;
}

/* The device has to have nothing to do, and nobody may give it any meanwhile. */
CUresult wait_to_load(CUcontext ctx)
{
	CUresult r;

	ctx->loading++;
	r = queue_wait_context(ctx);
	ctx->loading--;
	pthread_cond_broadcast(&sim.done);
	return r ?: refuse_if(!ctx->alive, CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

/* The image stays the library's, if there is one. */
CUresult module_new(CUcontext ctx, const struct image *image, CUlibrary library, CUmodule *out)
{
	CUmodule module = calloc(1, sizeof(*module));

	*module = (struct CUmod_st){MAGIC_MODULE, ctx->modules, ctx, *image, NULL, library};
	module->functions = calloc(image->count ? image->count : 1, sizeof(*module->functions));
	for (size_t i = 0; i < image->count; i++)
		module->functions[i] = (struct CUfunc_st){MAGIC_FUNCTION, image->kernels[i], module};
	ctx->modules = module;
	*out = module;
	return CUDA_SUCCESS;
}

static bool module_ok(CUmodule module)
{
	return module && module->magic == MAGIC_MODULE;
}

static void forget_globals(CUmodule module)
{
	struct block *next;

	for (struct block *b = block_first(); b; b = next) {
		next = b->next;
		if (b->module == module)
			block_release(b);
	}
}

void module_free(CUmodule module)
{
	UNLINK(module->ctx->modules, module);
	forget_globals(module);
	if (module->library)
		library_forget_module(module->library, module);
	else
		image_close(&module->image);
	module->magic = 0;
	free(module->functions);
	free(module);
}

void modules_release_of(CUcontext ctx)
{
	while (ctx->modules)
		module_free(ctx->modules);
}

static CUresult load_image(CUcontext ctx, struct image *image, CUmodule *out)
{
	CUresult r = wait_to_load(ctx);

	if (r)
		image_close(image);
	return r ?: module_new(ctx, image, NULL, out);
}

static CUresult load_file(CUcontext ctx, CUmodule *out, const char *path)
{
	struct image image;
	CUresult r = out && path ? image_open(path, &image) : CUDA_ERROR_INVALID_VALUE;

	return r ?: load_image(ctx, &image, out);
}

ENTRY(cuModuleLoad, NEEDS_CONTEXT, TAKES(CUmodule *module, const char *fname), load_file(c.ctx, module, fname))

static CUresult load_data(CUcontext ctx, CUmodule *out, const void *data)
{
	struct image image;
	CUresult r = out ? image_read(data, &image) : CUDA_ERROR_INVALID_VALUE;

	return r ?: load_image(ctx, &image, out);
}

ENTRY(cuModuleLoadData, NEEDS_CONTEXT, TAKES(CUmodule *module, const void *image), load_data(c.ctx, module, image))
ENTRY(cuModuleLoadDataEx, NEEDS_CONTEXT,
      TAKES(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues),
      load_data(c.ctx, module, image))
ENTRY(cuModuleLoadFatBinary, NEEDS_CONTEXT, TAKES(CUmodule *module, const void *fatCubin),
      load_data(c.ctx, module, fatCubin))

/* Its code may be running. */
static CUresult unload(CUmodule module)
{
	CUresult r;

	if (!module_ok(module))
		return CUDA_ERROR_INVALID_HANDLE;
	if (module->library)
		return CUDA_ERROR_NOT_PERMITTED;
	r = queue_wait_context(module->ctx);
	if (!r && module_ok(module))
		module_free(module);
	return r;
}

ENTRY(cuModuleUnload, NEEDS_CONTEXT | UNSAFE_IN_CAPTURE, TAKES(CUmodule hmod), unload(hmod))

CUfunction module_function(CUmodule module, const struct gt_kernel *code)
{
	for (size_t i = 0; i < module->image.count; i++)
		if (module->functions[i].code == code)
			return &module->functions[i];
	return NULL;
}

static CUresult get_function(CUmodule module, const char *name, CUfunction *out)
{
	const struct gt_kernel *code;

	if (!out || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module_ok(module))
		return CUDA_ERROR_INVALID_HANDLE;
	code = image_find(&module->image, name);
	if (!code)
		return CUDA_ERROR_NOT_FOUND;
	*out = module_function(module, code);
	return CUDA_SUCCESS;
}

ENTRY(cuModuleGetFunction, NEEDS_CONTEXT, TAKES(CUfunction *hfunc, CUmodule hmod, const char *name),
      get_function(hmod, name, hfunc))
ENTRY(cuModuleGetFunctionCount, NEEDS_CONTEXT, TAKES(unsigned int *count, CUmodule mod),
      ANSWER_OF(module_ok(mod), CUDA_ERROR_INVALID_HANDLE, count, mod->image.count))

static CUresult loading_mode(CUmoduleLoadingMode *mode)
{
	const char *text = getenv("CUDA_MODULE_LOADING");

	*mode = text && !strcmp(text, "EAGER") ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

ENTRY(cuModuleGetLoadingMode, NEEDS_INIT, TAKES(CUmoduleLoadingMode *mode), loading_mode(mode))

static CUresult enumerate(CUfunction *out, unsigned count, CUmodule module)
{
	if (!out || !count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module_ok(module))
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < count && i < module->image.count; i++)
		out[i] = &module->functions[i];
	return CUDA_SUCCESS;
}

ENTRY(cuModuleEnumerateFunctions, NEEDS_CONTEXT, TAKES(CUfunction *functions, unsigned int numFunctions, CUmodule mod),
      enumerate(functions, numFunctions, mod))

/* A variable: an exported object of the shared object. */
static CUresult get_global(CUmodule module, const char *name, CUdeviceptr *out, size_t *bytes)
{
	const ElfW(Sym) *symbol = NULL;
	struct block *block;
	Dl_info info;
	void *at;

	if (!name || !module_ok(module))
		return module_ok(module) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	at = dlsym(module->image.handle, name);
	if (!at || !dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return CUDA_ERROR_NOT_FOUND;
	if (!block_find((uintptr_t)at)) {
		block = block_new(BLOCK_GLOBAL, module->ctx, (uintptr_t)at, symbol->st_size);
		block->module = module;
		block_insert(block);
	}
	if (out)
		*out = (uintptr_t)at;
	if (bytes)
		*bytes = symbol->st_size;
	return CUDA_SUCCESS;
}

ENTRY(cuModuleGetGlobal_v2, NEEDS_CONTEXT, TAKES(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name),
      get_global(hmod, name, dptr, bytes))
