/* What the end of a buffer (lib/buffers/buffer.c) and the end of its context (lib/buffers/teardown.c) have in
 * common. */
#ifndef GMOD_LIB_HEAP_PARTS_H
#define GMOD_LIB_HEAP_PARTS_H

#include "monitor/registry/registry.h"

/* It is found again under its addresses. */
void gmod_buffer_index_again(const struct gmod_record *r);

/* It has gone with its context, and the record is free. */
void gmod_buffer_lose(struct gmod_record *r);

#endif
