#include "lib/buffers/backend.h"

#define ADDRESS(name) &gmod_backend_##name,

const struct gmod_backend *const gmod_backends[] = {GMOD_BACKENDS(ADDRESS) NULL};

CUresult gmod_free_device(struct gmod_record *r)
{
	return NEXT(cuMemFree_v2)(gmod_record_details(r)->raw);
}
