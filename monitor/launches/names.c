#include "monitor/launches/names.h"

#include <string.h>

#include "monitor/launches/history.h"

#define NAME_MAX_BYTES ((size_t)4096)

static gmod_histories names;

/* Where there is no room for the name, the handle must not have its old one. */
static void learn(uint64_t handle, const struct gmod_kept *kept, uint64_t module)
{
	uint64_t had = 0;

	if (gmod_history_at(names, handle, GMOD_LATEST, &had) != kept || (module && module != had))
		gmod_history_add(names, handle, kept, module);
}

void gmod_name_learn(uint64_t handle, const char *name, uint64_t module)
{
	learn(handle, name ? gmod_keep(name, strnlen(name, NAME_MAX_BYTES)) : NULL, module);
}

void gmod_name_learn_as(uint64_t handle, uint64_t kernel)
{
	uint64_t module = 0;
	const struct gmod_kept *kept = gmod_history_at(names, kernel, GMOD_LATEST, &module);

	if (kept)
		learn(handle, kept, module);
}

void gmod_names_end(uint64_t module, uint64_t ticks)
{
	gmod_history_end(names, module, ticks);
}

const char *gmod_name_of(uint64_t handle, uint64_t ticks)
{
	const struct gmod_kept *kept = gmod_history_at(names, handle, ticks, NULL);

	return kept ? kept->bytes : NULL;
}

uint64_t gmod_name_owner(uint64_t handle)
{
	uint64_t module = 0;

	return gmod_history_at(names, handle, GMOD_LATEST, &module) ? module : 0;
}
