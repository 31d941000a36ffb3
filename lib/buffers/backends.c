#include "lib/buffers/backend.h"

const struct gmod_backend *const gmod_backends[] = {&gmod_backend_mapped, &gmod_backend_small, &gmod_backend_managed,
						    &gmod_backend_pinned, NULL};
