/*
 * Ways up the stack that have been walked before. The unwinder takes microseconds a frame where its tables are not in
 * the cache, and a program allocates along the same paths over and over: where each frame's return address still lies
 * where it was, the functions are the same, and so are their frames. A frame that differs in size from call to call
 * (alloca) can only be taken for another one where an old return address lies in the right place. Not kept are ways
 * that go far, to another stack, or through a frame that a signal has interrupted.
 */
#ifndef GMOD_LIB_BASE_TRAIL_H
#define GMOD_LIB_BASE_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

enum { GMOD_TRAIL_MAX = 48 }; /* frames: those that are wanted at most, and 16 of ours */

struct gmod_trail {
	uintptr_t from; /* the frame where it begins */
	unsigned depth; /* how far the walk is to go; the caller counts */
	unsigned frames;
	bool repeats;
	struct {
		uintptr_t at; /* where its return address lies, bytes from there */
		uintptr_t pc;
	} frame[GMOD_TRAIL_MAX]; /* the innermost first */
};

/*
 * A walk is about to begin at that frame. true: one that was kept began there too, was to go as far, and is there
 * still: *t has its frames. false: *t has none yet.
 */
bool gmod_trail_begin(struct gmod_trail *t, uintptr_t from, unsigned depth);

/* The walk's next frame: its return address, and the place of that. */
void gmod_trail_note(struct gmod_trail *t, uintptr_t place, uintptr_t pc, bool interrupted);

/* The walk is over: its trail is kept, if it can be repeated. */
void gmod_trail_keep(const struct gmod_trail *t);

#endif
