/*
 * The quarantine: freed device buffers whose memory is kept back for a while, oldest out first, within quarantine_mb.
 * What is written there meanwhile is a use after free. This file knows which they are; lib/buffers/buffer.c fills,
 * watches and releases them. From any thread.
 */
#ifndef GMOD_LIB_BUFFERS_QUARANTINE_H
#define GMOD_LIB_BUFFERS_QUARANTINE_H

#include "lib/context/context.h"
#include "monitor/registry/index.h"

/* One more, of so many bytes. false: there is no place for it. */
bool gmod_quarantine_put(const struct gmod_found *buffer, uint64_t bytes);

/*
 * The context's oldest out of it, as long as there are more than `most` bytes in it. Letting go of one waits for its
 * context, and nobody waits for another's.
 */
bool gmod_quarantine_take(const struct gmod_context *c, uint64_t most, struct gmod_found *oldest);

/* Does a buffer begin at this address whose free the program has had already? */
bool gmod_quarantine_holds(uint64_t address);

#endif
