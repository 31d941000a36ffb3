/*
 * The guard: workers that scan byte arrays, verify buffers and release freed ones.
 *
 * A worker has an array to itself while it holds the array's scanning flag; on the GPU it is a warp, whose lanes look
 * at entries side by side. A thread that finds the heap exhausted, and the guard not coming, does the same by itself
 * (mallocN reclaims inline), so memory that is already freed is found also while kernels keep the guard from running.
 */
#ifndef GMOD_DEVICE_GUARD_H
#define GMOD_DEVICE_GUARD_H

#include "device_array.h"
#include "device_buffer.h"
#include "device_native.h"
#include "device_ring.h"

/*
 * What a worker has counted in a scan. until: where memory is short, the end of the time that the scan may take. What
 * is freed need not wait any longer then, and some of it will do.
 */
struct gmod_tally {
	gmod_u64 until; /* 0: memory is not short */
	bool partial;   /* there are entries that were not looked at */
	gmod_u64 live, bytes, waiting, released, quarantined;
};

/* ---- saying it ---- */

GMOD_DEVICE struct gmod_device_finding gmod_finding_new(gmod_u32 class_, gmod_u64 user, gmod_u64 meta, gmod_u64 owner)
{
	struct gmod_device_finding f = {0};

	f.class_ = class_;
	f.user = user;
	f.size = gmod_meta_size(meta);
	f.generation = gmod_meta_generation(meta);
	f.owner = owner;
	f.caller = GMOD_WHO_UNKNOWN;
	return f;
}

/* What a byte of a buffer's block should be; `is` where that is the program's affair. */
GMOD_DEVICE gmod_u8 gmod_byte_expected(const struct gmod_secrets *s, gmod_u64 meta, long long offset, bool freed,
				       gmod_u8 is)
{
	gmod_u64 size = gmod_meta_size(meta), word;

	if (offset < -8)
		word = s->head;
	else if (offset < 0)
		word = (meta | GMOD_STATE_LIVE) ^ s->pad;
	else if (offset >= (long long)size)
		word = s->tail;
	else if (freed && offset < (long long)gmod_fill_end(0, size))
		word = gmod_fill_word(s);
	else
		return is;
	return (gmod_u8)(word >> 8 * ((gmod_u64)offset % 8));
}

/* Memory from the word of the first changed byte on, as far as the buffer's tail goes. */
GMOD_DEVICE void gmod_finding_window(struct gmod_device_finding *f, const struct gmod_secrets *s, gmod_u64 meta,
				     gmod_u64 end, bool freed)
{
	gmod_u64 at = (f->user + f->first) & ~7ull;

	f->window_at = at - f->user;
	for (gmod_u32 i = 0; i < GMOD_WINDOW / 8 && at < end; i++, at += 8) {
		gmod_u64 v = gmod_load_part(at, 0, 8);

		f->observed[i] = v;
		for (gmod_u32 k = 0; k < 8; k++)
			f->expected[i] |= (gmod_u64)gmod_byte_expected(s, meta, (long long)(at + k - f->user), freed,
								       (gmod_u8)(v >> 8 * k))
					  << 8 * k;
	}
}

GMOD_DEVICE_SLOW bool gmod_say_corrupt(struct gmod_device_heap *h, gmod_u32 class_, gmod_u64 user,
				       const struct gmod_entry *e, struct gmod_change change, gmod_u64 end, bool freed)
{
	gmod_u64 meta = gmod_load64_relaxed(&e->meta);
	struct gmod_device_finding f = gmod_finding_new(class_, user, meta, gmod_load64_relaxed(&e->who));
	struct gmod_secrets s = gmod_secrets_of(h->key, user, meta);

	f.first = (gmod_u64)change.first;
	f.last = (gmod_u64)change.last;
	gmod_finding_window(&f, &s, meta, end, freed);
	return gmod_ring_put(h, &f);
}

/* ---- looking ---- */

GMOD_DEVICE gmod_u64 gmod_block_size_of(const struct gmod_device_heap *h, gmod_u64 user, gmod_u64 size,
					struct gmod_place *p)
{
	if (h->mode == GMOD_HEAP_NATIVE)
		return gmod_buffer_needs(size);
	*p = gmod_slab_place(h, user - GMOD_HEAD_SIZE);
	return p->size;
}

GMOD_DEVICE void gmod_release_block(struct gmod_device_heap *h, gmod_u64 user, struct gmod_place p)
{
	if (h->mode == GMOD_HEAP_NATIVE)
		gmod_native_release(h, user - GMOD_HEAD_SIZE);
	else
		gmod_slab_release(h, p);
}

/* What is wrong with a buffer, 0 if nothing is: before it, behind it, or in it after a free, in this order. */
GMOD_DEVICE gmod_u32 gmod_buffer_verify(const struct gmod_secrets *s, gmod_u64 user, gmod_u64 meta, gmod_u64 end,
					gmod_u64 head, gmod_u64 header, struct gmod_change *change)
{
	gmod_u64 size = gmod_meta_size(meta), state = gmod_header_state(header, meta, s->pad);
	bool tail = gmod_stretch_intact(user + size, end, s->tail);

	if (head != s->head || !state) {
		*change = gmod_no_change();
		gmod_compare_head(change, s, meta, head, header);
		return GMOD_DEVICE_UNDERFLOW;
	}
	if (!tail) {
		*change = gmod_stretch_change(user, user + size, end, s->tail);
		return GMOD_DEVICE_OVERFLOW;
	}
	if (state != GMOD_STATE_FREED || gmod_stretch_intact(user, gmod_fill_end(user, size), gmod_fill_word(s)))
		return 0;
	*change = gmod_stretch_change(user, user, gmod_fill_end(user, size), gmod_fill_word(s));
	return GMOD_DEVICE_USE_AFTER_FREE;
}

/* A freed buffer that is intact. */
GMOD_DEVICE void gmod_entry_release(struct gmod_device_heap *h, struct gmod_entry *e, gmod_u64 user, gmod_u64 meta,
				    gmod_u64 pad, struct gmod_place p)
{
	gmod_store64_relaxed(gmod_header_word(user), (meta | GMOD_STATE_DEAD) ^ pad);
	gmod_store64_relaxed(&e->word, GMOD_ENTRY_USED_UP);
	gmod_release_block(h, user, p);
}

/* Has a freed buffer been left alone for as long as it should be? */
GMOD_DEVICE bool gmod_entry_is_due(const struct gmod_device_heap *h, struct gmod_entry *e, gmod_u64 word, bool pressing)
{
	gmod_u32 pass = gmod_load32_relaxed(&h->pass);

	if (!h->delay || pressing)
		return true;
	if (!(word & GMOD_ENTRY_FREED)) {
		gmod_store64_relaxed(&e->word, word | GMOD_ENTRY_FREED | (gmod_u64)(pass & 0xffff) << 48);
		return false;
	}
	return (gmod_u32)((pass - (gmod_u32)(word >> 48)) & 0xffff) >= h->delay;
}

/* Look at one entry: true when it is used up, now or before. */
GMOD_DEVICE bool gmod_entry_look(struct gmod_device_heap *h, struct gmod_entry *e, struct gmod_tally *t)
{
	/* acquire: the entry's meta and the buffer's canaries */
	gmod_u64 word = gmod_load64_acquire(&e->word), user = word & GMOD_ENTRY_ADDRESS, meta, head, header, state, end;
	struct gmod_place p = {0, 0, 0, 0};
	struct gmod_secrets s;
	struct gmod_change change;
	gmod_u32 class_;

	if (word == GMOD_ENTRY_USED_UP)
		return true;
	if (!word)
		return false;
	meta = gmod_load64_relaxed(&e->meta);
	if (word & GMOD_ENTRY_REPORTED) {
		t->quarantined++;
		return false;
	}
	end = gmod_tail_end(user, gmod_meta_size(meta), gmod_block_size_of(h, user, gmod_meta_size(meta), &p));
	if (end < user) {
		/* No block begins there: the entry itself has been overwritten. It is not followed, here or later. */
		gmod_store64_relaxed(&e->word, word | GMOD_ENTRY_REPORTED);
		t->quarantined++;
		return false;
	}
	/* acquire: what freeN did before FREED. Read once: what is decided below is decided on one value. */
	header = gmod_load64_acquire(gmod_header_word(user));
	head = gmod_load64_relaxed(gmod_head_word(user));
	s = gmod_secrets_of(h->key, user, meta);
	state = gmod_header_state(header, meta, s.pad);
	class_ = gmod_buffer_verify(&s, user, meta, end, head, header, &change);
	if (class_) {
		/* where the ring is full, the next pass says it */
		if (gmod_say_corrupt(h, class_, user, e, change, end, state == GMOD_STATE_FREED))
			gmod_store64_relaxed(&e->word, word | GMOD_ENTRY_REPORTED);
		t->quarantined++;
		return false;
	}
	if (state != GMOD_STATE_FREED) {
		t->live++;
		t->bytes += gmod_meta_size(meta);
		return false;
	}
	if (!gmod_entry_is_due(h, e, word, t->until)) {
		t->waiting++;
		return false;
	}
	gmod_entry_release(h, e, user, meta, s.pad, p);
	t->released++;
	return true;
}

/* ---- scanning ---- */

/*
 * A segment as the worker's first lane sees it, and therefore all of them: what each read for itself could differ, and
 * they would no longer be at the same segment.
 */
struct gmod_segment_view {
	struct gmod_segment *next;
	gmod_u32 count; /* entries reserved so far */
	bool current;
};

GMOD_DEVICE struct gmod_segment_view gmod_segment_seen(struct gmod_array *a, const struct gmod_segment *s,
						       struct gmod_group w)
{
	gmod_u64 control = gmod_group_share(w, gmod_load64_acquire(&a->control));
	gmod_u64 number = gmod_group_share(w, gmod_load64_relaxed(&s->number));
	gmod_u32 count = (gmod_u32)control;
	struct gmod_segment_view v;

	v.next = gmod_segment_at(gmod_group_share(w, gmod_load64_relaxed(&s->next)));
	v.current = gmod_array_number(control) == number;
	v.count = v.current && count < GMOD_SEGMENT_ENTRIES ? count : GMOD_SEGMENT_ENTRIES;
	return v;
}

/* So few entries in use that they are worth moving. */
enum { GMOD_SEGMENT_SPARSE = GMOD_SEGMENT_ENTRIES / 8 * 7 };

/* Move what is left in a segment to the current one, like any thread that allocates; returns how many it was. */
GMOD_DEVICE gmod_u32 gmod_segment_move(struct gmod_device_heap *h, struct gmod_array *a, struct gmod_segment *s,
				       struct gmod_group w)
{
	gmod_u32 moved = 0;

	for (gmod_u32 i = w.rank; i < GMOD_SEGMENT_ENTRIES; i += w.size) {
		struct gmod_entry *from = &s->entry[i], *to;
		gmod_u64 word = gmod_load64_acquire(&from->word);
		gmod_u32 generation;

		if (!word || word == GMOD_ENTRY_USED_UP)
			continue;
		to = gmod_array_reserve(h, a, &generation);
		if (!to)
			break;
		gmod_store64_relaxed(&to->meta, gmod_load64_relaxed(&from->meta));
		gmod_store64_relaxed(&to->who, gmod_load64_relaxed(&from->who));
		gmod_store64_release(&to->word, word);
		gmod_store64_relaxed(&from->word, GMOD_ENTRY_USED_UP);
		moved++;
	}
	return (gmod_u32)gmod_group_sum(w, moved);
}

/* What a thread that is short of memory releases at once before it looks at more. */
enum { GMOD_RECLAIM_ENOUGH = 128 };

/* A segment has been looked at, for who waits for memory: the guard is at work, and there may be some. */
GMOD_DEVICE void gmod_scan_beats(struct gmod_device_heap *h, struct gmod_group w, const struct gmod_tally *t,
				 gmod_u64 *released)
{
	gmod_u64 sum = gmod_group_sum(w, t->released);

	if (w.rank == 0 && !t->until)
		gmod_add32_relaxed(&h->beat, 1);
	if (w.rank == 0 && sum != *released)
		gmod_add64_relaxed(&h->releases, 1);
	*released = sum;
}

/* Changes whenever a buffer is freed. */
GMOD_DEVICE gmod_u64 gmod_heap_stirs(const struct gmod_device_heap *h)
{
	gmod_u64 sum = 0;

	for (int i = 0; i < GMOD_SLOTS; i++)
		sum += gmod_load64_acquire(&h->freed[i]);
	return sum;
}

/* The segment that a scan begins with: where memory is short, the one at which the latest scan broke off. */
GMOD_DEVICE struct gmod_segment *gmod_scan_begin(struct gmod_device_heap *h, struct gmod_array *a, struct gmod_group w,
						 struct gmod_tally *t)
{
	gmod_u64 resume = t->until ? gmod_group_share(w, gmod_load64_relaxed(&a->resume)) : 0;

	t->partial = resume != 0;
	if (w.rank == 0 && !resume)
		gmod_store64_relaxed(&a->stirs, gmod_heap_stirs(h) + 1);
	return gmod_segment_at(resume ? resume : gmod_group_share(w, gmod_load64_acquire(&a->segments)));
}

/*
 * Look at all entries of an array; where memory is short, until enough is released or the time is over: one thread
 * alone takes long for all of them, and others wait. All lanes of the worker call it, and the flag is held.
 */
GMOD_DEVICE void gmod_array_scan(struct gmod_device_heap *h, gmod_u32 array, struct gmod_group w, struct gmod_tally *t)
{
	struct gmod_array *a = &h->array[array];
	struct gmod_segment *before = NULL, *s = gmod_scan_begin(h, a, w, t);
	gmod_u64 released = 0;
	bool enough = false;

	while (s && !enough) {
		struct gmod_segment_view v = gmod_segment_seen(a, s, w);
		gmod_u32 used = 0;

		for (gmod_u32 i = w.rank; i < v.count; i += w.size)
			used += gmod_entry_look(h, &s->entry[i], t);
		used = (gmod_u32)gmod_group_sum(w, used);
		gmod_scan_beats(h, w, t, &released);
		if (!v.current && used >= GMOD_SEGMENT_SPARSE)
			used += gmod_segment_move(h, a, s, w);
		gmod_group_meet(w); /* nobody reads the segment any more */
		if (!v.current && used == GMOD_SEGMENT_ENTRIES) {
			if (w.rank == 0)
				gmod_array_unlink(h, a, before, s);
		} else {
			before = s;
		}
		gmod_group_meet(w);
		s = v.next;
		enough = t->until && (released >= GMOD_RECLAIM_ENOUGH || gmod_clock() >= t->until);
	}
	t->partial |= s != NULL;
	if (w.rank == 0)
		gmod_store64_relaxed(&a->resume, (gmod_u64)s);
}

/* The sums over all arrays, and the most they have been. */
GMOD_DEVICE void gmod_heap_tally(struct gmod_device_heap *h, const struct gmod_array *a, struct gmod_tally t)
{
	gmod_u64 live = t.live - gmod_load64_relaxed(&a->live), bytes = t.bytes - gmod_load64_relaxed(&a->live_bytes);

	if (live)
		gmod_max64_relaxed(&h->live_peak, gmod_add64_relaxed(&h->live, live) + live);
	if (bytes)
		gmod_max64_relaxed(&h->live_bytes_peak, gmod_add64_relaxed(&h->live_bytes, bytes) + bytes);
}

GMOD_DEVICE void gmod_array_tally(struct gmod_device_heap *h, struct gmod_array *a, struct gmod_group w,
				  struct gmod_tally t)
{
	t.live = gmod_group_sum(w, t.live);
	t.bytes = gmod_group_sum(w, t.bytes);
	t.waiting = gmod_group_sum(w, t.waiting);
	t.released = gmod_group_sum(w, t.released);
	t.quarantined = gmod_group_sum(w, t.quarantined);
	if (w.rank)
		return;
	gmod_add64_relaxed(&a->released, t.released);
	if (t.partial)
		return;
	gmod_heap_tally(h, a, t);
	gmod_store64_relaxed(&a->live, t.live);
	gmod_store64_relaxed(&a->live_bytes, t.bytes);
	gmod_store64_relaxed(&a->waiting, t.waiting);
	gmod_store64_relaxed(&a->quarantined, t.quarantined);
}

/* Keep some empty segments at hand, so that a thread whose array is full need not make one by itself. */
GMOD_DEVICE void gmod_guard_spares(struct gmod_device_heap *h, struct gmod_group w)
{
	for (int i = 0; i < GMOD_SPARES_A_PASS; i++) {
		struct gmod_segment *s = NULL;

		if (w.rank == 0 && gmod_load32_relaxed(&h->spares) < gmod_spares_wanted(h))
			s = gmod_segment_make(h);
		s = gmod_segment_at(gmod_group_share(w, (gmod_u64)s));
		if (!s)
			return;
		gmod_segment_clear(s, w);
		if (w.rank == 0)
			gmod_segment_spare(h, s);
	}
}

/* Between two passes of a resident guard, in one of its threads: says that a pass is over. */
GMOD_DEVICE bool gmod_guard_goes_on(struct gmod_device_heap *h, gmod_u32 turn, gmod_u64 end)
{
	gmod_store64_system(&h->ring->passes, gmod_load32_relaxed(&h->pass));
	gmod_pause();
	return gmod_clock() < end && gmod_load64_system(&h->ring->stop) < turn;
}

/*
 * One pass of a worker over one array; false: somebody else is at it. Returns how much it has released in *released.
 * until: as in struct gmod_tally.
 */
GMOD_DEVICE bool gmod_guard_array(struct gmod_device_heap *h, gmod_u32 array, struct gmod_group w, gmod_u64 until,
				  gmod_u64 *released)
{
	struct gmod_array *a = &h->array[array];
	struct gmod_tally t = {until, false, 0, 0, 0, 0, 0};
	bool ours = w.rank == 0 && gmod_array_try_scan(a);

	if (!gmod_group_share(w, ours))
		return false;
	gmod_array_scan(h, array, w, &t);
	gmod_array_tally(h, a, w, t);
	*released = gmod_group_sum(w, t.released);
	/* All that was freed before has been looked at. */
	if (w.rank == 0 && !gmod_load64_relaxed(&a->resume) && (until || !h->delay))
		gmod_store64_relaxed(&a->barren, gmod_load64_relaxed(&a->stirs));
	gmod_group_meet(w); /* all have seen what there is before others change it */
	if (w.rank == 0)
		gmod_array_scanned(a);
	return true;
}

#endif
