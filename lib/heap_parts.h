/* What the end of a buffer (lib/heap.c) and the end of its context (lib/heap_context.c) have in common. */
#ifndef GMOD_LIB_HEAP_PARTS_H
#define GMOD_LIB_HEAP_PARTS_H

#include "lib/context.h"
#include "monitor/verify.h"

/* Of a record that is RELEASING. swept: the latest sweep from before it was; later ones have passed it over. */
void gmod_heap_verify(struct gmod_record *r, enum gmod_verify what, const struct gmod_slack *slack,
		      struct gmod_moment swept);

/* It is found again under its addresses. */
void gmod_heap_index_again(const struct gmod_record *r);

/* It has gone with its context, and the record is free. */
void gmod_heap_lose(struct gmod_record *r);

#endif
