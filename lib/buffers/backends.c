#include "lib/buffers/backend.h"

#define ADDRESS(name) &gmod_backend_##name,

const struct gmod_backend *const gmod_backends[] = {GMOD_BACKENDS(ADDRESS) NULL};

CUresult gmod_free_device(struct gmod_record *r)
{
	return NEXT(cuMemFree_v2)(gmod_record_details(r)->raw);
}

bool gmod_device_has(size_t size)
{
	size_t available = 0, total = 0;

	return NEXT(cuMemGetInfo_v2)(&available, &total) == CUDA_SUCCESS && size <= available;
}
