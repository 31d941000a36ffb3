#include "monitor/registry/finding.h"

#include <stdatomic.h>

const char *const gmod_class_names[GMOD_CLASS_COUNT] = {
    [GMOD_HEAP_BUFFER_OVERFLOW] = "heap-buffer-overflow",
    [GMOD_HEAP_BUFFER_UNDERFLOW] = "heap-buffer-underflow",
    [GMOD_USE_AFTER_FREE] = "use-after-free",
    [GMOD_DOUBLE_FREE] = "double-free",
    [GMOD_INVALID_FREE] = "invalid-free",
    [GMOD_API_OUT_OF_BOUNDS] = "api-out-of-bounds",
    [GMOD_LEAK] = "leak",
    [GMOD_POST_MORTEM] = "post-mortem",
    [GMOD_GPU_FAULT] = "gpu-fault",
};

static _Atomic uint32_t last_id;

uint32_t gmod_finding_next_id(void)
{
	return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

unsigned gmod_finding_count(void)
{
	return atomic_load_explicit(&last_id, memory_order_relaxed);
}
