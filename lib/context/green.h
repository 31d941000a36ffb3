/*
 * The green contexts that are there.
 *
 * Memory that is allocated in one is the primary context's of its device, its home, and goes and is freed with that
 * (measured on driver 580). So green contexts have no entries (lib/context/context.h). One may be current to one thread
 * at a time only: GMOD makes none current, but one that it has not seen made, when that is destroyed. Each holds the
 * primary context like a retain does.
 *
 * Known are those made by cuGreenCtxCreate, 256 at most. Of others the driver is asked where one is current
 * (gmod_current_home()).
 */
#ifndef GMOD_LIB_GREEN_H
#define GMOD_LIB_GREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/driver/driver.h"

struct gmod_green {
	CUcontext context; /* what cuCtxFromGreenCtx() gives */
	CUcontext home;
	int device;
};

/* false: there is no room. From any thread. */
bool gmod_green_made(const struct gmod_green *green);
void gmod_green_gone(CUcontext context);

/* Lock-free, and nothing where there is no green context. */
bool gmod_green_find(CUcontext context, struct gmod_green *out);

/*
 * A stream has been made in a green context, or in whichever is current; a stream is about to be destroyed. 1024 are
 * remembered at a time.
 */
void gmod_green_stream_made(CUstream stream, CUcontext green);
void gmod_green_stream_made_here(CUstream stream);
void gmod_green_stream_gone(CUstream stream);

/*
 * A wait for a whole context has ended that began at `began`. One in a primary context is one for the green ones of its
 * device, too. One in a green context is for its own streams, which are what it proves: a launch counts as one in the
 * context that was current and may have gone to another's stream.
 */
void gmod_prove_context_wait(uint64_t context, uint64_t began);

#endif
