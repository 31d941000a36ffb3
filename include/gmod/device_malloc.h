/* mallocN and its kin over one heap; gmod_device.cuh has the interface and its contract. */
#ifndef GMOD_DEVICE_MALLOC_H
#define GMOD_DEVICE_MALLOC_H

#include "device_guard.h"

/* How long a thread that gets no memory waits for some, in ns. Of the time between two looks no more counts than
 * GMOD_MAKE_NS: other processes may have had the device meanwhile. */
#define GMOD_SHORT_NS 250000000ull /* whatever it waits for */
#define GMOD_GUARD_NS 200000000ull /* for the guard to give back what is kept back */
#define GMOD_MAKE_NS 1000000ull    /* for who has just taken a chunk to list its blocks, or to let go of it */

/* ---- malloc ---- */

GMOD_DEVICE enum gmod_step gmod_malloc_failed(struct gmod_want *w)
{
	gmod_add64_relaxed(&gmod_unit_heap.state->failed, 1);
	w->b.user = 0;
	return GMOD_STEP_FAILED;
}

/* Can there ever be such a buffer? */
GMOD_DEVICE bool gmod_heap_can(gmod_u64 size, gmod_u64 align)
{
	gmod_u64 needs = gmod_buffer_needs(size, align);

	return needs && needs <= gmod_unit_heap.largest;
}

/* What a buffer needs. */
GMOD_DEVICE enum gmod_step gmod_want_make(struct gmod_want *w, gmod_u64 size, gmod_u64 align)
{
	gmod_u64 needs = gmod_buffer_needs(size, align);

	w->size = size;
	w->align = align;
	w->needs = needs;
	w->tries = w->hint = w->taken = w->waited = 0;
	w->looked = w->b.user = w->b.place = w->b.word = w->b.end = 0;
	w->spot = GMOD_CLASS_RUN * GMOD_SLOTS;
	if (needs <= GMOD_BLOCK_MAX)
		w->spot = gmod_class_of((gmod_u32)needs) * GMOD_SLOTS + (gmod_processor() & (gmod_unit_heap.slots - 1));
	return needs && needs <= gmod_unit_heap.largest ? gmod_want_first(w) : gmod_malloc_failed(w);
}

/* There is no block: ask the guard for what is kept back, and wait a little, unless nothing is to be expected. */
GMOD_DEVICE_ONCE enum gmod_step gmod_want_wait(struct gmod_want *w)
{
	gmod_u64 now = gmod_clock(), passed = w->looked ? now - w->looked : 0;

	w->tries = w->hint = 0;
	w->looked = now;
	w->waited += (gmod_u32)(passed < GMOD_MAKE_NS ? passed : GMOD_MAKE_NS);
	if (w->waited > GMOD_SHORT_NS)
		return gmod_malloc_failed(w);
	gmod_pause();
	/* There are chunks, and others are faster. */
	if (w->spot < GMOD_CLASS_RUN * GMOD_SLOTS && !gmod_chunks_are_short(1))
		return gmod_want_first(w);
	if (w->waited > GMOD_GUARD_NS ||
	    (w->waited > GMOD_MAKE_NS && !gmod_load64_relaxed(&gmod_unit_heap.state->held) &&
	     gmod_chunks_are_short(gmod_run_chunks(w->needs))))
		return gmod_malloc_failed(w);
	/* Or others may be about to give back what they took for too short a run. */
	gmod_store32_relaxed(&gmod_unit_heap.state->pressing, gmod_load32_relaxed(&gmod_unit_heap.state->pass) + 1);
	GMOD_ROLLED
	for (int i = 0; i < GMOD_WAIT_PAUSES; i++)
		gmod_pause();
	return gmod_want_first(w);
}

/* A block of our own: its entry is as it was left, NONE or DEAD, unless it has been overwritten. */
GMOD_DEVICE_ONCE enum gmod_step gmod_block_state(struct gmod_want *w)
{
	gmod_u32 state;

	w->b.place = gmod_place(w->b.place, w->spot / GMOD_SLOTS);
	w->b.word = gmod_load64_relaxed(&gmod_entry_at(w->b.place)->word);
	state = gmod_entry_state_of(w->b.word);
	if ((state != GMOD_ENTRY_NONE && state != GMOD_ENTRY_DEAD) || !gmod_entry_holds(&w->b))
		return gmod_want_first(w);
	return state == GMOD_ENTRY_DEAD && gmod_buffer_lies(&w->b) ? GMOD_STEP_VERIFY : GMOD_STEP_ENTRY;
}

/* The entry of a new buffer, which is BUSY yet, behind that of the block's last one. */
GMOD_DEVICE_ONCE void gmod_entry_make(struct gmod_want *w)
{
	struct gmod_buffer *b = &w->b;
	gmod_u64 block = gmod_place_block(b->place), user = (block + GMOD_HEAD_SIZE + w->align - 1) & ~(w->align - 1);

	b->word = gmod_entry_next(b->word, w->size, user - block);
	gmod_store64_relaxed(&gmod_entry_at(b->place)->word, gmod_entry_turned(b->word, GMOD_ENTRY_BUSY));
	gmod_fence_writes(); /* a guard that reads what we write finds the entry BUSY; also what the program writes */
	gmod_store64_relaxed(&gmod_entry_at(b->place)->who, gmod_entry_who(b->place, b->word, gmod_who()));
}

/* release: the entry, and the buffer with its canaries or its fill */
GMOD_DEVICE_SLOW void gmod_entry_publish(const struct gmod_buffer *b, enum gmod_entry_state state)
{
	gmod_store64_release(&gmod_entry_at(b->place)->word, gmod_entry_turned(b->word, state));
}

/* Was anything written to the block since it was freed? */
GMOD_DEVICE_ONCE enum gmod_step gmod_block_verify(const struct gmod_buffer *b)
{
	return gmod_buffer_is_corrupt(b) && gmod_entry_turn(b, b->word, b->word | GMOD_ENTRY_REPORTED)
		   ? GMOD_STEP_SAY
		   : GMOD_STEP_ENTRY;
}

/* A buffer, in steps that each return before the next begins; NULL: there is no memory. align: 16 or a greater power of
 * two. */
GMOD_DEVICE_SLOW void *gmod_heap_malloc(gmod_u64 size, gmod_u64 align)
{
	struct gmod_want w;
	enum gmod_step step = gmod_want_make(&w, size, align);

	GMOD_ROLLED
	do {
		switch (step) {
		case GMOD_STEP_TRY:
			step = gmod_slab_try(&w);
			break;
		case GMOD_STEP_UNLIST:
			gmod_chunk_unlist(w.hint - 1, w.spot / GMOD_SLOTS);
			step = GMOD_STEP_PICK;
			break;
		case GMOD_STEP_PICK:
			step = gmod_slab_pick(&w);
			break;
		case GMOD_STEP_RETURN:
			gmod_chunk_return(w.hint - 1, 1);
			step = GMOD_STEP_LOOK;
			break;
		case GMOD_STEP_LOOK:
			step = gmod_slab_look(&w);
			break;
		case GMOD_STEP_TURN:
			step = gmod_slab_turn(&w);
			break;
		case GMOD_STEP_TAKE:
			step = gmod_chunk_take(&w);
			break;
		case GMOD_STEP_MAKE:
			step = gmod_slab_make(&w);
			break;
		case GMOD_STEP_NONE:
			step = gmod_slab_none(&w);
			break;
		case GMOD_STEP_FIND_RUN:
			step = gmod_run_find(&w);
			break;
		case GMOD_STEP_TAKE_RUN:
			step = gmod_run_take(&w);
			break;
		case GMOD_STEP_GIVE_RUN:
			gmod_run_give(w.hint, w.taken);
			w.hint += w.taken;
			w.tries = 1;
			step = GMOD_STEP_FIND_RUN;
			break;
		case GMOD_STEP_MAKE_RUN:
			step = gmod_run_make(&w);
			break;
		case GMOD_STEP_WAIT:
			step = gmod_want_wait(&w);
			break;
		case GMOD_STEP_STATE:
			step = gmod_block_state(&w);
			break;
		case GMOD_STEP_VERIFY:
			step = gmod_block_verify(&w.b);
			break;
		case GMOD_STEP_SAY:
			step = gmod_say(GMOD_DEVICE_CORRUPT, &w.b, false) ? GMOD_STEP_ENTRY : GMOD_STEP_LOST;
			break;
		case GMOD_STEP_LOST:
			gmod_say_none();
			step = GMOD_STEP_ENTRY;
			break;
		case GMOD_STEP_ENTRY:
			gmod_entry_make(&w);
			gmod_buffer_lies(&w.b);
			gmod_buffer_make(&w.b);
			gmod_entry_publish(&w.b, GMOD_ENTRY_LIVE);
			step = GMOD_STEP_DONE;
			break;
		default: /* w.b.user is 0 until there is a buffer */
			step = GMOD_STEP_DONE;
		}
	} while (step != GMOD_STEP_DONE);
	return (void *)w.b.user;
}

/* ---- free ---- */

/*
 * The buffer at the address that was asked for, as its entry has it, or of which it was last. word 0: there is none;
 * GMOD_ENTRY_STATE: the entry has been overwritten.
 */
GMOD_DEVICE_SLOW void gmod_buffer_find(struct gmod_buffer *b)
{
	b->place = gmod_place_at(b->asked);
	b->word = b->user = b->end = 0;
	if (!b->place)
		return;
	/* acquire: the rest of the entry */
	b->word = gmod_load64_acquire(&gmod_entry_at(b->place)->word);
	if (!gmod_entry_holds(b))
		b->word = gmod_entry_damaged();
	else if (gmod_entry_state_of(b->word) == GMOD_ENTRY_NONE || !gmod_buffer_lies(b) || b->user != b->asked)
		b->word = 0;
}

/* May a buffer be kept back? No more than a quarter of the memory is. */
GMOD_DEVICE bool gmod_may_keep(const struct gmod_buffer *b)
{
	struct gmod_heap_state *s = gmod_unit_heap.state;

	return gmod_load32_relaxed(&s->pressing) != gmod_load32_relaxed(&s->pass) + 1 &&
	       gmod_load64_relaxed(&s->held) + gmod_buffer_takes(b) <= (gmod_u64)gmod_unit_heap.chunks
									   << (GMOD_CHUNK_BITS - 2);
}

/* A buffer that is BUSY, by us, is kept back from here on. */
GMOD_DEVICE void gmod_buffer_keep(const struct gmod_buffer *b)
{
	gmod_u64 *second = gmod_words_at(b->user - 8), pass = gmod_load32_relaxed(&gmod_unit_heap.state->pass);

	gmod_fence_writes(); /* a guard that reads what we write finds that the buffer is not LIVE */
	gmod_store64_relaxed(second, gmod_load64_relaxed(second) ^ (pass & 0xffff));
	gmod_add64_relaxed(&gmod_unit_heap.state->held, gmod_buffer_takes(b));
	gmod_entry_publish(b, GMOD_ENTRY_FREED);
}

/* Make a live buffer BUSY, by us; false: it is not live, or no longer. */
GMOD_DEVICE_ONCE bool gmod_buffer_claim(struct gmod_buffer *b)
{
	gmod_u64 seen;

	GMOD_ROLLED
	while (gmod_entry_state_of(b->word) == GMOD_ENTRY_LIVE) {
		seen = gmod_cas64_relaxed(&gmod_entry_at(b->place)->word, b->word,
					  gmod_entry_turned(b->word, GMOD_ENTRY_BUSY));
		if (seen == b->word)
			return true;
		b->word = seen; /* the guard has reported it, or another thread frees it */
	}
	return false;
}

GMOD_DEVICE_SLOW void gmod_heap_free(void *pointer)
{
	struct gmod_buffer b;
	bool told = true, kept;

	b.asked = (gmod_u64)pointer;
	gmod_buffer_find(&b);
	if (!gmod_buffer_claim(&b)) {
		if (b.word != GMOD_ENTRY_STATE &&
		    !gmod_say(b.word ? GMOD_DEVICE_DOUBLE_FREE : GMOD_DEVICE_INVALID_FREE, &b, true))
			gmod_say_none();
		return;
	}
	if (gmod_buffer_is_corrupt(&b)) {
		told = gmod_say(GMOD_DEVICE_CORRUPT, &b, true);
		b.word |= told ? GMOD_ENTRY_REPORTED : 0;
	}
	gmod_buffer_fill(&b);
	/* It goes, unless it is to stay a while, or nobody could be told yet what is wrong with it. */
	kept = (gmod_unit_heap.delay || !told) && gmod_may_keep(&b);
	if (!told && !kept) {
		gmod_say_none();
		b.word |= GMOD_ENTRY_REPORTED;
	}
	if (!kept) {
		gmod_entry_publish(&b, GMOD_ENTRY_DEAD);
		gmod_block_give(&b);
	} else {
		gmod_buffer_keep(&b);
	}
}

/* The size of a live buffer; 0 for anything else. */
GMOD_DEVICE_SLOW gmod_u64 gmod_heap_size_of(const void *pointer)
{
	struct gmod_buffer b;

	b.asked = (gmod_u64)pointer;
	gmod_buffer_find(&b);
	return gmod_entry_state_of(b.word) == GMOD_ENTRY_LIVE ? gmod_entry_size(b.word) : 0;
}

#endif
