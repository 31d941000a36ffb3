/*
 * Guarded buffers: request -> backend -> canaries -> record, and back.
 *
 * These functions do what the entry points of the same purpose do, and return what those return. They are called
 * from the hooks only, with GMOD on; they call the driver in the caller's context and never wait for the GPU except
 * where the native free does.
 */
#ifndef GMOD_LIB_HEAP_H
#define GMOD_LIB_HEAP_H

#include "lib/buffers/backend.h"
#include "monitor/registry/index.h"

/* *out is set on success only. */
CUresult gmod_buffer_alloc(const struct gmod_request *request, uint64_t *out);

/* found was looked up for an address that is the start of a user's buffer. */
CUresult gmod_buffer_free(const struct gmod_found *found, const char *entry_point);

/* The driver gave r to an allocation in the current context. true: memory was short, and there is more of it now. */
bool gmod_buffers_made_room(CUresult r);

/* What is free on the current context's device: what buffers will take but have not yet is not, what is cached is. */
size_t gmod_buffers_correct_free(size_t free);

/*
 * A context is about to go. Verifies and takes every buffer in it, and keeps the monitor out. Of the entry that is
 * returned, one of the others must follow: the buffers are gone with the context, or the context stays. NULL: it has no
 * entry, or one that others have been at for too long.
 */
struct gmod_context *gmod_buffers_teardown_begin(CUcontext context);
void gmod_buffers_teardown_commit(struct gmod_context *c);
void gmod_buffers_teardown_cancel(struct gmod_context *c);

#endif
