/* Launches: of kernels and of host functions. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROCESSORS 132

static CUresult check_shape(const unsigned grid[3], const unsigned block[3], unsigned shared)
{
	static const unsigned max_grid[3] = {2147483647, 65535, 65535}, max_block[3] = {1024, 1024, 64};

	for (int i = 0; i < 3; i++)
		if (!grid[i] || !block[i] || grid[i] > max_grid[i] || block[i] > max_block[i])
			return CUDA_ERROR_INVALID_VALUE;
	if (block[0] * block[1] * block[2] > 1024 || shared > 232448)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* The arguments in one buffer: {POINTER, p, SIZE, &n, END}. */
static const unsigned char *extra_buffer(void **extra, size_t *size)
{
	const unsigned char *buffer = NULL;

	for (*size = 0; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			*size = *(size_t *)extra[1];
		else
			return NULL;
	}
	return buffer;
}

/* Arguments are copied at the call, as every launch does. */
static CUresult copy_args(struct work_kernel *k, void **params, void **extra)
{
	size_t size;
	const unsigned char *buffer = extra_buffer(extra, &size);

	if (k->code->params && (params != NULL) == (buffer != NULL))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < k->code->params; i++) {
		const void *from = params ? params[i] : buffer + param_offset(k->code, i);

		if (!params && param_offset(k->code, i) + k->code->size[i] > size)
			return CUDA_ERROR_INVALID_VALUE;
		if (k->code->size[i] > SIM_SLOT)
			k->large[i] = malloc(k->code->size[i]);
		memcpy(k->large[i] ?: k->args[i], from, k->code->size[i]);
	}
	return CUDA_SUCCESS;
}

CUresult kernel_work(CUcontext ctx, CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
		     void **params, void **extra, struct work *out)
{
	struct work_kernel *k = &out->kernel;
	CUresult r;

	*out = (struct work){.kind = WORK_KERNEL};
	k->code = code_of(f);
	if (!k->code || (f->magic == MAGIC_FUNCTION && f->module->ctx != ctx))
		return CUDA_ERROR_INVALID_HANDLE;
	r = check_shape(grid, block, shared);
	if (r)
		return r;
	k->ctx = ctx;
	k->function = f;
	memcpy(k->grid, grid, sizeof(k->grid));
	memcpy(k->block, block, sizeof(k->block));
	k->shared = shared;
	k->tid = (int)syscall(SYS_gettid);
	r = copy_args(k, params, extra);
	if (r)
		work_clear(out);
	return r;
}

size_t kernel_blocks(const unsigned grid[3])
{
	return (size_t)grid[0] * grid[1] * grid[2];
}

/* How many such blocks fit on the device at once. */
size_t kernel_places(const unsigned block[3])
{
	size_t threads = (size_t)block[0] * block[1] * block[2], fit = 2048 / threads;

	return PROCESSORS * (fit < 32 ? fit : 32);
}

/* All blocks of a cooperative launch must fit. */
static CUresult check_cooperative(const unsigned grid[3], const unsigned block[3])
{
	return kernel_blocks(grid) > kernel_places(block) ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

#define DIM(x, y, z) ((const unsigned[]){x, y, z})

static CUresult wait_for_loading(CUcontext ctx)
{
	while (ctx->loading && ctx->alive && sim.state != SIM_TORN_DOWN)
		pthread_cond_wait(&sim.done, sim_the_lock());
	return refuse_if(!ctx->alive, CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

struct where {
	CUcontext ctx;
	CUstream stream;
	bool per_thread, cooperative;
};

static CUresult launch(struct where to, CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
		       void **params, void **extra)
{
	struct work work;
	CUresult r = wait_for_loading(to.ctx) ?: kernel_work(to.ctx, f, grid, block, shared, params, extra, &work);

	if (!r && to.cooperative && (r = check_cooperative(grid, block)))
		work_clear(&work);
	return r ?: stream_do(to.ctx, to.stream, to.per_thread, &work);
}

ENTRY_TWINS(cuLaunchKernel, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
		  unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
		  CUstream hStream, void **kernelParams, void **extra),
	    launch((struct where){c.ctx, hStream, c.per_thread, false}, f, DIM(gridDimX, gridDimY, gridDimZ),
		   DIM(blockDimX, blockDimY, blockDimZ), sharedMemBytes, kernelParams, extra))
ENTRY_TWINS(cuLaunchCooperativeKernel, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
		  unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
		  CUstream hStream, void **kernelParams),
	    launch((struct where){c.ctx, hStream, c.per_thread, true}, f, DIM(gridDimX, gridDimY, gridDimZ),
		   DIM(blockDimX, blockDimY, blockDimZ), sharedMemBytes, kernelParams, NULL))

/* Each in the context of its stream. */
static CUresult launch_on_all(CUcontext ctx, const CUDA_LAUNCH_PARAMS *list, unsigned count)
{
	CUresult r = list && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	for (unsigned i = 0; i < count && !r; i++) {
		const CUDA_LAUNCH_PARAMS *p = &list[i];
		CUstream stream = p->hStream ? stream_of(ctx, p->hStream, false) : NULL;

		if (!stream || stream_is_legacy(stream)) /* a default stream is none of a device's own */
			return CUDA_ERROR_INVALID_VALUE;
		r = launch((struct where){stream->ctx, p->hStream, false, true}, p->function,
			   DIM(p->gridDimX, p->gridDimY, p->gridDimZ), DIM(p->blockDimX, p->blockDimY, p->blockDimZ),
			   p->sharedMemBytes, p->kernelParams, NULL);
	}
	return r;
}

ENTRY(cuLaunchCooperativeKernelMultiDevice, NEEDS_CONTEXT,
      TAKES(CUDA_LAUNCH_PARAMS *launchParamsList, unsigned int numDevices, unsigned int flags),
      refuse_if(flags & ~3u, CUDA_ERROR_INVALID_VALUE) ?: launch_on_all(c.ctx, launchParamsList, numDevices))

static bool wants_cooperative(const CUlaunchConfig *config)
{
	for (unsigned i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
			return config->attrs[i].value.cooperative;
	return false;
}

static CUresult launch_config(CUcontext ctx, const CUlaunchConfig *p, CUfunction f, bool per_thread, void **params,
			      void **extra)
{
	if (!p || (p->numAttrs && !p->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	return launch((struct where){ctx, p->hStream, per_thread, wants_cooperative(p)}, f,
		      DIM(p->gridDimX, p->gridDimY, p->gridDimZ), DIM(p->blockDimX, p->blockDimY, p->blockDimZ),
		      p->sharedMemBytes, params, extra);
}

ENTRY_TWINS(cuLaunchKernelEx, _ptsz, NEEDS_CONTEXT,
	    TAKES(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra),
	    launch_config(c.ctx, config, f, c.per_thread, kernelParams, extra))

static CUresult launch_host(CUcontext ctx, CUstream handle, bool per_thread, CUhostFn fn, void *data)
{
	struct work work = {.kind = WORK_HOST, .host = {.fn = fn, .data = data}};

	return fn ? stream_do(ctx, handle, per_thread, &work) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_TWINS(cuLaunchHostFunc, _ptsz, NEEDS_CONTEXT, TAKES(CUstream hStream, CUhostFn fn, void *userData),
	    launch_host(c.ctx, hStream, c.per_thread, fn, userData))

ENTRY_TWINS(cuLaunchHostFunc_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream hStream, CUhostFn fn, void *userData, unsigned mode),
	    launch_host(c.ctx, hStream, c.per_thread, fn, userData))

static CUresult add_callback(CUcontext ctx, CUstream handle, bool per_thread, CUstreamCallback fn, void *data,
			     unsigned flags)
{
	struct work work = {.kind = WORK_HOST, .host = {.callback = fn, .stream = handle, .data = data}};

	return fn && !flags ? stream_do(ctx, handle, per_thread, &work) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_TWINS(cuStreamAddCallback, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream hStream, CUstreamCallback callback, void *userData, unsigned flags),
	    add_callback(c.ctx, hStream, c.per_thread, callback, userData, flags))
