/*
 * Byte arrays: how threads that allocate tell the guard where the buffers are.
 *
 * An array is a chain of segments. Threads put entries into the current one; when it is full, one of them links a new
 * one in front and makes it current. Only who has the array's `scanning` flag, the guard or a thread that is out of
 * memory, looks at entries, and takes segments out.
 *
 *   A1  control is one word, {segment number, entries reserved}. Adding 1 to it reserves an entry and names the segment
 *       it is in: nothing is read or written before that. A reservation beyond the end is none, and is made again once
 *       another segment is current. Where there is none to be had, the number of reservations goes back to the end, so
 *       that it never runs over into the segment's.
 *   A2  A segment is taken out only when it is not current and every one of its entries is used up. An entry is used up
 *       by the scanner alone, and only after its thread has published it. So nobody writes to a segment that is gone.
 *   A3  A segment is in the chain before it is current: no entry is ever out of the scanner's reach. Only the scanner
 *       takes out, so a link once read stays good while the flag is held.
 *   A4  The number of a segment that is gone may be given to another one. Who then still wants to replace "the full
 *       segment n" by compare and swap finds n full or does nothing.
 *
 * Publication: the entry's meta, then its word with release; the scanner reads the word with acquire. All of this is
 * between threads of one GPU. Model: tests/models/array.pml.
 */
#ifndef GMOD_DEVICE_ARRAY_H
#define GMOD_DEVICE_ARRAY_H

#include "device_slab.h"

/* Flags in an entry's word. */
#define GMOD_ENTRY_PUBLISHED 1ull
#define GMOD_ENTRY_FREED 2ull    /* seen FREED by a guard pass, whose low 16 bits are in the word */
#define GMOD_ENTRY_REPORTED 4ull /* corrupt: reported, and never released */
#define GMOD_ENTRY_USED_UP 8ull
#define GMOD_ENTRY_ADDRESS 0x0000fffffffffff0ull

enum {
	GMOD_SEGMENT_WAIT = 1 << 17, /* pauses: longer than it takes to get a segment or find that there is none */
	GMOD_SPARES_A_PASS = 8,      /* new ones, by one worker */
	GMOD_SPARES_MAX = 1024,
};

/* Empty segments to keep at hand: a 32nd of the memory. */
GMOD_DEVICE gmod_u32 gmod_spares_wanted(const struct gmod_device_heap *h)
{
	gmod_u32 n = gmod_load32_relaxed(&h->given) / (32 * GMOD_SEGMENT_SIZE / GMOD_CHUNK_SIZE);

	return n < GMOD_SPARES_MAX ? n : GMOD_SPARES_MAX;
}

/* The calling thread, for an entry or a finding. */
GMOD_DEVICE gmod_u64 gmod_who(void)
{
	return gmod_block_id() << 12 | gmod_thread_in_block();
}

GMOD_DEVICE gmod_u32 gmod_array_number(gmod_u64 control)
{
	return (gmod_u32)(control >> 32);
}

GMOD_DEVICE struct gmod_segment *gmod_segment_at(gmod_u64 address)
{
	return (struct gmod_segment *)address;
}

/* Put a segment in front of the chain. */
GMOD_DEVICE void gmod_array_link(struct gmod_array *a, struct gmod_segment *s)
{
	gmod_u64 first = gmod_load64_relaxed(&a->segments), seen;

	for (;;) {
		gmod_store64_relaxed(&s->next, first);
		/* release: the segment is empty and numbered for who finds it */
		seen = gmod_cas64_release(&a->segments, first, (gmod_u64)s);
		if (seen == first)
			return;
		first = seen;
	}
}

/* Where in a set of numbers this thread begins to look: numbers in use are the low ones, so not far up. */
GMOD_DEVICE gmod_u32 gmod_spread(void)
{
	return (gmod_u32)(gmod_thread_id() * 0x9e3779b1u) % 256;
}

/* A segment with a number, whose entries are not empty yet; NULL if there is no memory for it now. */
GMOD_DEVICE_SLOW struct gmod_segment *gmod_segment_make(struct gmod_device_heap *h)
{
	gmod_u32 number = gmod_set_take_any(&h->free_numbers, h->numbers, gmod_spread());
	struct gmod_segment *s;
	gmod_u64 block;

	if (number == GMOD_SET_NONE)
		return NULL;
	do {
		block = gmod_slab_allocate(h, GMOD_CLASS_ENTRIES, gmod_group_alone());
	} while (!block && gmod_heap_extend(h));
	if (!block) {
		gmod_set_add(&h->free_numbers, number);
		return NULL;
	}
	s = gmod_segment_at(block);
	gmod_store64_relaxed(&s->number, number);
	gmod_store64_relaxed(&h->segment[number], block);
	return s;
}

/* All lanes of the group take part. */
GMOD_DEVICE void gmod_segment_clear(struct gmod_segment *s, struct gmod_group g)
{
	for (gmod_u32 i = g.rank; i < GMOD_SEGMENT_ENTRIES; i += g.size)
		gmod_store64_relaxed(&s->entry[i].word, 0);
	gmod_group_meet(g);
}

/* Keep an empty segment for who needs one soon. */
GMOD_DEVICE void gmod_segment_spare(struct gmod_device_heap *h, struct gmod_segment *s)
{
	gmod_set_add(&h->spare_numbers, (gmod_u32)gmod_load64_relaxed(&s->number));
	gmod_add32_relaxed(&h->spares, 1);
}

/* An empty segment: a spare one, or a new one. */
GMOD_DEVICE struct gmod_segment *gmod_segment_get(struct gmod_device_heap *h)
{
	gmod_u32 number = gmod_set_take_any(&h->spare_numbers, h->numbers, gmod_spread());
	struct gmod_segment *s;

	if (number != GMOD_SET_NONE) {
		gmod_add32_relaxed(&h->spares, ~0u);
		return gmod_segment_at(gmod_load64_relaxed(&h->segment[number]));
	}
	s = gmod_segment_make(h);
	if (s)
		gmod_segment_clear(s, gmod_group_alone());
	return s;
}

GMOD_DEVICE void gmod_segment_drop(struct gmod_device_heap *h, struct gmod_segment *s)
{
	gmod_u64 block = (gmod_u64)s;
	gmod_u32 number = (gmod_u32)gmod_load64_relaxed(&s->number);
	gmod_u32 chunk = (gmod_u32)((block - h->base) >> GMOD_CHUNK_BITS);

	gmod_set_add(&h->free_numbers, number);
	gmod_block_release(h, chunk, ((gmod_u32)block & (GMOD_CHUNK_SIZE - 1)) / GMOD_SEGMENT_SIZE);
}

/* The segment `full` is full: have another one made current, by us or by who is at it. false: no memory. */
GMOD_DEVICE_SLOW bool gmod_array_grow(struct gmod_device_heap *h, struct gmod_array *a, gmod_u32 full)
{
	struct gmod_segment *s = NULL;
	gmod_u64 control, next, seen;

	/* Look before trying: many wait here, and each try holds up who has it. */
	for (int i = 0; gmod_load32_relaxed(&a->growing) || gmod_cas32_acquire(&a->growing, 0, 1); i++) {
		gmod_pause();
		if (gmod_array_number(gmod_load64_relaxed(&a->control)) != full)
			return true;
		if (i == GMOD_SEGMENT_WAIT)
			return false;
	}
	control = gmod_load64_relaxed(&a->control);
	if (gmod_array_number(control) == full) {
		s = gmod_segment_get(h);
		if (s)
			gmod_array_link(a, s);
		next = s ? gmod_load64_relaxed(&s->number) << 32 : (gmod_u64)full << 32 | GMOD_SEGMENT_ENTRIES;
		/* Others go on reserving beyond the end meanwhile (A1). */
		while ((seen = gmod_cas64_release(&a->control, control, next)) != control)
			control = seen;
	}
	gmod_store32_release(&a->growing, 0);
	return s || gmod_array_number(control) != full;
}

/* An entry of our own, not yet published; NULL if there is no memory. *generation differs from one to the next. */
GMOD_DEVICE struct gmod_entry *gmod_array_reserve(struct gmod_device_heap *h, struct gmod_array *a,
						  gmod_u32 *generation)
{
	for (;;) {
		/* acquire: the segment that the number stands for (A3) */
		gmod_u64 control = gmod_add64_acquire(&a->control, 1);
		gmod_u32 number = gmod_array_number(control), index = (gmod_u32)control;

		if (number && index < GMOD_SEGMENT_ENTRIES) {
			*generation = number * GMOD_SEGMENT_ENTRIES + index;
			return &gmod_segment_at(gmod_load64_relaxed(&h->segment[number]))->entry[index];
		}
		if (!gmod_array_grow(h, a, number))
			return NULL;
	}
}

GMOD_DEVICE void gmod_entry_publish(struct gmod_entry *e, gmod_u64 user, gmod_u64 meta, gmod_u64 who)
{
	gmod_store64_relaxed(&e->meta, meta);
	gmod_store64_relaxed(&e->who, who);
	/* release: the entry, and the buffer with its canaries */
	gmod_store64_release(&e->word, user | GMOD_ENTRY_PUBLISHED);
}

/* Scanning is for one at a time; nobody waits for it. */
GMOD_DEVICE bool gmod_array_try_scan(struct gmod_array *a)
{
	/* acquire: what the last scanner did */
	return !gmod_load32_relaxed(&a->scanning) && gmod_cas32_acquire(&a->scanning, 0, 1) == 0;
}

GMOD_DEVICE void gmod_array_scanned(struct gmod_array *a)
{
	gmod_store32_release(&a->scanning, 0);
}

/* Is there an entry for a buffer? The flag is held. */
GMOD_DEVICE bool gmod_array_has(const struct gmod_array *a, gmod_u64 user)
{
	const struct gmod_segment *s = gmod_segment_at(gmod_load64_acquire(&a->segments));

	for (; s; s = gmod_segment_at(gmod_load64_relaxed(&s->next)))
		for (gmod_u32 i = 0; i < GMOD_SEGMENT_ENTRIES; i++)
			if ((gmod_load64_relaxed(&s->entry[i].word) & GMOD_ENTRY_ADDRESS) == user)
				return true;
	return false;
}

/* Take out a segment that is used up (A2); before: the one in front of it, NULL if that is not known. */
GMOD_DEVICE void gmod_array_unlink(struct gmod_device_heap *h, struct gmod_array *a, struct gmod_segment *before,
				   struct gmod_segment *s)
{
	gmod_u64 next = gmod_load64_relaxed(&s->next), self = (gmod_u64)s;

	if (!before && gmod_cas64_release(&a->segments, self, next) != self) {
		/* It is not the first, or is no longer. */
		before = gmod_segment_at(gmod_load64_acquire(&a->segments));
		while (gmod_load64_relaxed(&before->next) != self)
			before = gmod_segment_at(gmod_load64_relaxed(&before->next));
	}
	if (before)
		gmod_store64_relaxed(&before->next, next);
	gmod_segment_drop(h, s);
}

#endif
