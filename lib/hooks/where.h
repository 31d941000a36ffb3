/* Where an address lies, for hooks that answer for a guarded buffer as the native one would. */
#ifndef GMOD_LIB_HOOKS_WHERE_H
#define GMOD_LIB_HOOKS_WHERE_H

#include "lib/hooks/hook.h"
#include "monitor/registry/index.h"

/* GMOD_IN_REDZONE: in memory of ours around a buffer, which does not exist for the program. */
enum gmod_where { GMOD_ELSEWHERE, GMOD_IN_BUFFER, GMOD_IN_REDZONE };

static inline enum gmod_where gmod_where_is(uint64_t address, struct gmod_found *found)
{
	*found = (struct gmod_found){.record = NULL};
	if (gmod_phase() != GMOD_OFF)
		*found = gmod_index_find(address);
	if (!found->record)
		return GMOD_ELSEWHERE;
	return address - found->bounds.user < found->bounds.size ? GMOD_IN_BUFFER : GMOD_IN_REDZONE;
}

/* The start of a guarded buffer, of the host's or not. */
static inline bool gmod_is_guarded(uint64_t address, bool host, struct gmod_found *found)
{
	return gmod_where_is(address, found) != GMOD_ELSEWHERE && found->bounds.user == address &&
	       (gmod_record_details(found->record)->memory == GMOD_MEM_HOST) == host;
}

#endif
