/* Is anything being captured? Work that goes into a graph runs later, if at all, and is no launch now. */
#ifndef GMOD_LIB_CAPTURE_H
#define GMOD_LIB_CAPTURE_H

#include "lib/driver.h"
#include "monitor/proof.h"

/* Captures under way in the process; only begin and end change it. */
extern _Atomic int gmod_captures;

/* Slow path of gmod_is_captured(): asks the driver about this one stream. */
bool gmod_stream_captures(CUstream stream, enum gmod_flavour flavour);

static inline bool gmod_is_captured(CUstream stream, enum gmod_flavour flavour)
{
	if (__builtin_expect(__atomic_load_n((int *)&gmod_captures, __ATOMIC_RELAXED) == 0, 1))
		return false;
	return gmod_stream_captures(stream, flavour);
}

#endif
