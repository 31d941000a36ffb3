#include "device/settings.h"

#include <stdatomic.h>

#include "lib/base/facts.h"

#define MIB ((uint64_t)1 << 20)

static _Atomic uint64_t heap_bytes;
static _Atomic unsigned guards;
static atomic_bool used;

size_t gmod_settings_heap_bytes(size_t limit)
{
	uint64_t said = atomic_load_explicit(&heap_bytes, memory_order_relaxed);
	uint64_t bytes = said ? said : gmod_options()->device_heap_mb * MIB;

	if (said || limit <= bytes / GMOD_HEAP_PER_LIMIT)
		return bytes;
	return limit < GMOD_DEVICE_HEAP_MAX / GMOD_HEAP_PER_LIMIT ? limit * GMOD_HEAP_PER_LIMIT : GMOD_DEVICE_HEAP_MAX;
}

uint32_t gmod_settings_guards(void)
{
	unsigned said = atomic_load_explicit(&guards, memory_order_relaxed);

	return said ? said : gmod_options()->device_guards;
}

void gmod_settings_are_used(void)
{
	atomic_store_explicit(&used, true, memory_order_relaxed);
}

static bool is_valid(const struct gmod_device_config *c)
{
	return c->heap_bytes <= GMOD_DEVICE_HEAP_MAX && c->guards <= GMOD_GUARDS_MAX &&
	       (c->heap_bytes == 0 || c->heap_bytes >= MIB);
}

enum gmod_status gmod_settings_change(const struct gmod_device_config *c)
{
	if (!is_valid(c))
		return GMOD_INVALID;
	if ((c->heap_bytes || c->guards) && atomic_load_explicit(&used, memory_order_relaxed))
		return GMOD_TOO_LATE;
	if (c->heap_bytes)
		atomic_store_explicit(&heap_bytes, c->heap_bytes, memory_order_relaxed);
	if (c->guards)
		atomic_store_explicit(&guards, c->guards, memory_order_relaxed);
	return GMOD_OK;
}
