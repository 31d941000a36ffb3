#include "lib/sweep/sweep.h"
#include <stdlib.h>

/* A kernel, known by the address of the host's function that launches it. */
struct function {
	const void *host;
	struct kernel *kernel; /* NULL: nothing is known of it */
	struct function *next;
};

static struct function *functions;
static __thread struct {
	dim3 grid, block;
	size_t shared;
	void *stream;
} pushed[16];
static __thread unsigned pushed_count;

EXPORT void **__cudaRegisterFatBinary(void *binary)
{
	static void *handle;

	return &handle;
}
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name)
{
	struct function *f = malloc(sizeof(*f));

	if (!f)
		return;
	pthread_mutex_lock(&sweep_lock);
	*f = (struct function){host, sweep_kernel(name), functions};
	functions = f;
	pthread_mutex_unlock(&sweep_lock);
}

static bool is_possible(dim3 grid, dim3 block, size_t shared)
{
	return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= INT32_MAX &&
	       grid.y <= GRID_YZ && grid.z <= GRID_YZ && block.x <= THREADS && block.y <= THREADS && block.z <= 64 &&
	       (uint64_t)block.x * block.y * block.z <= THREADS && shared <= SHARED_MOST;
}

EXPORT int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream)
{
	struct function *f = functions;

	if (!is_possible(grid, block, shared))
		return sweep_say(INVALID_CONFIGURATION);
	pthread_mutex_lock(&sweep_lock);
	while (f && f->host != function)
		f = f->next;
	if (f && f->kernel && f->kernel->lines < LINES_OF_KERNEL)
		sweep_tell_launch(f->kernel, grid, block, shared, arguments);
	pthread_mutex_unlock(&sweep_lock);
	return f ? SUCCESS : sweep_say(INVALID_FUNCTION);
}
EXPORT int __cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
			      void *stream)
{
	return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}
EXPORT int cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
				       void *stream)
{
	return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}
EXPORT int __cudaGetKernel(const void **kernel, const void *function)
{
	*kernel = function;
	return SUCCESS;
}
/* Of cudaLaunchConfig_t, what is needed. */
struct launch_config {
	dim3 grid, block;
	size_t shared;
	void *stream;
};
EXPORT int cudaLaunchKernelExC(const struct launch_config *c, const void *function, void **arguments)
{
	return cudaLaunchKernel(function, c->grid, c->block, arguments, c->shared, c->stream);
}
EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
	if (pushed_count == sizeof(pushed) / sizeof(pushed[0]))
		return 1;
	pushed[pushed_count].grid = grid;
	pushed[pushed_count].block = block;
	pushed[pushed_count].shared = shared;
	pushed[pushed_count++].stream = stream;
	return 0;
}
EXPORT int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void **stream)
{
	if (!pushed_count)
		return INVALID_VALUE;
	pushed_count--;
	*grid = pushed[pushed_count].grid;
	*block = pushed[pushed_count].block;
	*shared = pushed[pushed_count].shared;
	*stream = pushed[pushed_count].stream;
	return SUCCESS;
}
EXPORT int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
	function(data);
	return SUCCESS;
}
