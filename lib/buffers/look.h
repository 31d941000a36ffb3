/*
 * Pinned memory in which redzones of stream-ordered buffers arrive (lib/buffers/ordered.h), and what came is told from
 * what is still on its way: a place is filled with the complement of what is expected before the copy is asked for.
 */
#ifndef GMOD_LIB_BUFFERS_LOOK_H
#define GMOD_LIB_BUFFERS_LOOK_H

#include "lib/context/context.h"
#include "monitor/registry/canary.h"

/* Places of a context: one for each block, and some for those that live. Bytes that are looked at, at most. */
enum { GMOD_LOOKS = 8192, GMOD_LOOKS_LIVING = 16, GMOD_LOOK_BYTES = 128 };

/* What is looked at: bytes [from, to) that were filled with a word, 4 bytes at a time. */
struct gmod_look {
	uint64_t from, to;
	uint32_t filled;
};

enum gmod_look_answer { GMOD_LOOK_COMES, GMOD_LOOK_INTACT, GMOD_LOOK_CHANGED };

/* In the current context, c: its places are there. Made at its first need of them. */
bool gmod_look_room(struct gmod_context *c);

/* From here on an answer may come to that place: the copy goes into the stream. false: the driver refused it. */
bool gmod_look_ask(const struct gmod_context *c, unsigned place, const struct gmod_look *look, CUstream stream);

/* An event behind all that is in a stream of the current context; NULL: there is none. */
CUevent gmod_event_behind(CUstream stream);

/* What goes into that stream from here on comes behind all that has been asked for in the context's own stream. */
void gmod_look_precede(const struct gmod_context *c, CUstream stream);

/* GMOD_LOOK_BYTES as a fill by words leaves them, from an address that is a multiple of 4 or all of one byte. */
void gmod_look_repeat(uint32_t word, uint8_t *bytes);

/* bytes: what has come, GMOD_LOOK_BYTES of room; *diff is filled where it has changed. */
enum gmod_look_answer gmod_look_answer(const struct gmod_context *c, unsigned place, const struct gmod_look *look,
				       uint8_t *bytes, struct gmod_diff *diff);

#endif
