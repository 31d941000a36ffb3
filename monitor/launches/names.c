#include "monitor/launches/names.h"

#include <string.h>

#include "monitor/launches/history.h"

#define NAME_MAX_BYTES ((size_t)4096)

static gmod_lists names;

/* Where there is no room for the name, the handle must not have its old one. */
void gmod_name_learn(uint64_t handle, const char *name)
{
	const struct gmod_kept *kept = name ? gmod_keep(name, strnlen(name, NAME_MAX_BYTES)) : NULL;

	if (gmod_history_at(names, handle, GMOD_LATEST) != kept)
		gmod_history_add(names, handle, kept);
}

const char *gmod_name_of(uint64_t handle, uint64_t ticks)
{
	const struct gmod_kept *kept = gmod_history_at(names, handle, ticks);

	return kept ? kept->bytes : NULL;
}
