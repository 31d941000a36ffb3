/*
 * The memory of a guarded buffer: what is asked of the driver for it, and how that goes back. Canaries, the record and
 * the accounts are lib/buffers/buffer.c's.
 *
 * Functions return what the driver said. Calls are made in the current context, in the program's own capture mode.
 */
#ifndef GMOD_LIB_BLOCK_H
#define GMOD_LIB_BLOCK_H

#include "lib/buffers/buffer.h"

/* How a request is served: large device buffers, and some small ones, as mapped ones where that is possible. */
struct gmod_plan {
	const struct gmod_request *request;
	struct gmod_context *context;
	struct gmod_layout layout;
	bool mapped, small; /* small: mapped although less than GMOD_LARGE */
	uint64_t kept;      /* a small one's block, taken from those that are kept */
};

/* What the driver gave for it. */
struct gmod_block {
	uint64_t raw, twin;
};

/* As planned; *out is set on success only. A kept block of the plan's is used up, or kept again. */
CUresult gmod_block_alloc(struct gmod_plan *plan, struct gmod_block *out);
/* The program's own call. */
CUresult gmod_block_alloc_native(const struct gmod_request *q, uint64_t *out);

/* Of a record that the caller owns; an error leaves the block as it was. _drop: of a mapped one whose context is gone.
 */
CUresult gmod_block_free(struct gmod_record *r);
void gmod_block_drop(const struct gmod_record *r);

/* Less than GMOD_LARGE, and mapped (lib/buffers/small.h). */
bool gmod_block_is_small(const struct gmod_record *r);

#endif
