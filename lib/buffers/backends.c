#include "lib/buffers/backend.h"

#define ADDRESS(name) &gmod_backend_##name,

const struct gmod_backend *const gmod_backends[] = {GMOD_BACKENDS(ADDRESS) NULL};
