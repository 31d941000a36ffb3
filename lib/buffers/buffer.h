/*
 * Guarded buffers: request -> backend -> canaries -> record, and back.
 *
 * These functions do what the entry points of the same purpose do, and return what those return. They are called
 * from the hooks only, with GMOD on; they call the driver in the caller's context and never wait for the GPU except
 * where the native free does.
 */
#ifndef GMOD_LIB_BUFFERS_BUFFER_H
#define GMOD_LIB_BUFFERS_BUFFER_H

#include "lib/buffers/backend.h"
#include "lib/context/teardown.h"
#include "monitor/registry/index.h"

/* *out: what the program has there. Where it fails, it is as the native call leaves it (0 for host memory). */
CUresult gmod_buffer_alloc(const struct gmod_request *request, uint64_t *out);

/* All but the stack that a report says of a buffer that was placed there; the caller owns the record. */
void gmod_buffer_describe(struct gmod_record *r, const struct gmod_request *q, const struct gmod_place *p);

/* found was looked up for an address that is the start of a user's buffer. */
CUresult gmod_buffer_free(const struct gmod_found *found, const char *entry_point);

/* The context's freed buffers that are kept back go, oldest first, until no more than so many bytes are: did any? */
bool gmod_buffer_let_go(const struct gmod_context *c, uint64_t most);

/* The context it was made in. */
CUcontext gmod_buffer_context(const struct gmod_record *r);

/* A buffer that its context's end has taken is gone with it, and the record is free. */
void gmod_buffer_lose(struct gmod_record *r);

/* What the end of a context does to the buffers in it: verified and out of sight, then gone with it, or as before. */
extern const struct gmod_context_listener gmod_buffers_of_context;

#endif
