/* Is anything being captured? Work that goes into a graph runs later, if at all, and is no launch now. */
#ifndef GMOD_LIB_CAPTURE_H
#define GMOD_LIB_CAPTURE_H

#include "lib/driver/driver.h"
#include "lib/base/phase.h"
#include "monitor/launches/proof.h"

/* Slow path of gmod_is_captured(): asks the driver about this one stream. */
__attribute__((cold)) bool gmod_stream_captures(CUstream stream, enum gmod_flavour flavour);

static inline bool gmod_is_captured(CUstream stream, enum gmod_flavour flavour)
{
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed) == 0, 1))
		return false;
	return gmod_stream_captures(stream, flavour);
}

#endif
