/* The kernel that GMOD brings along as PTX (lib/buffers/patrol.ptx): the same source as C, a part of the driver. */
#include "sim.h"

#include <string.h>

#include "lib/buffers/patrol.cu"

static void run(const struct gt_thread *self, void *const *args)
{
	gmod_patrol(args[0], self->block_index[0], self->grid[0], self->thread_index[0], self->block[0]);
}

bool patrol_is(const void *data)
{
	return !strncmp(data, "//", 2) && strstr(data, ".entry gmod_patrol(");
}

struct image patrol_image(void)
{
	static const struct gt_kernel kernel = {"gmod_patrol", run, 1, {sizeof(struct gmod_patrol_args)}};
	static const struct gt_kernel *const kernels[] = {&kernel};

	return (struct image){.kernels = kernels, .count = 1};
}
