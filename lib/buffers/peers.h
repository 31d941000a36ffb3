/*
 * Which devices may use the memory of which others: what cuCtxEnablePeerAccess opens natively by itself, some buffers
 * have to be told one by one. There is no way back: what was let in stays.
 */
#ifndef GMOD_LIB_BUFFERS_PEERS_H
#define GMOD_LIB_BUFFERS_PEERS_H

#include "lib/buffers/backend.h"

/* Contexts of device `reader` may use memory of device `owner` from now on: what is there, and what will be. */
void gmod_peers_let_in(int reader, int owner);
/* The same for one buffer that has just been published. The program does not know it yet. */
void gmod_peers_published(const struct gmod_record *r);

/* Have contexts of other devices access to memory of this one? For ever, then. */
bool gmod_peers_use(int device);

#endif
