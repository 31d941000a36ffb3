/* The kernel that GMOD brings along as PTX (lib/buffers/patrol.ptx): the same source as C, a part of the driver. */
#include "sim.h"

#include <dlfcn.h>
#include <string.h>

#include "lib/buffers/patrol.cu"

static void run(const struct gt_thread *self, void *const *args)
{
	if (!self->block_index[0] && !self->thread_index[0])
		inject_stall("patrol");
	gmod_patrol(args[0], self->block_index[0], self->grid[0], self->thread_index[0], self->block[0]);
}

bool patrol_is(const void *data)
{
	return !strncmp(data, "//", 2) && strstr(data, ".entry gmod_patrol(");
}

/* In a library of its own, which is loaded when it is first needed: compiler.c. Other calls go on meanwhile. */
static void compile(void)
{
	void *compiler = dlopen("libnvidia-ptxjitcompiler.so.1", RTLD_LAZY);
	int *under_way = compiler ? dlsym(compiler, "sim_compiling") : NULL;

	if (under_way)
		__atomic_add_fetch(under_way, 1, __ATOMIC_SEQ_CST);
	sim_unlock();
	inject_stall("compile");
	sim_lock();
	if (under_way)
		__atomic_sub_fetch(under_way, 1, __ATOMIC_SEQ_CST);
}

struct image patrol_image(void)
{
	static const struct gt_kernel kernel = {"gmod_patrol", run,     1, {sizeof(struct gmod_patrol_args)},
						__FILE__,      __LINE__};
	static const struct gt_kernel *const kernels[] = {&kernel};

	compile();
	return (struct image){.kernels = kernels, .count = 1};
}
