/* mallocN and its kin over one heap; gmod_device.cuh has the interface and its contract. */
#ifndef GMOD_DEVICE_MALLOC_H
#define GMOD_DEVICE_MALLOC_H

#include "device_guard.h"

/* How long a thread that gets no memory looks for some, in ns of gmod_clock(). */
#define GMOD_SHORT_NS 250000000ull
#ifdef __CUDACC__
#define GMOD_GUARD_NS 10000000ull /* of that, for the guard to come, or to go on */
#else
#define GMOD_GUARD_NS 0ull
#endif

/* ---- memory ---- */

/* A block for `needs` bytes, its size in *size; 0 if there is none. */
GMOD_DEVICE gmod_u64 gmod_block_get(struct gmod_device_heap *h, gmod_u64 needs, gmod_u64 *size)
{
	gmod_u32 class_;

	if (h->mode == GMOD_HEAP_NATIVE) {
		*size = needs;
		return gmod_native_allocate(h, needs);
	}
	if (needs > GMOD_BLOCK_MAX) {
		*size = (needs + GMOD_CHUNK_SIZE - 1) & ~(gmod_u64)(GMOD_CHUNK_SIZE - 1);
		return gmod_run_allocate(h, needs);
	}
	class_ = gmod_class_of((gmod_u32)needs);
	*size = gmod_class_size(class_);
	return gmod_slab_allocate(h, class_, gmod_group_of(class_));
}

enum gmod_reclaim { GMOD_RECLAIM_NOTHING, GMOD_RECLAIM_OTHERS, GMOD_RECLAIM_SOME };

/*
 * The heap is exhausted: release what is freed, in the arrays that nobody scans. That is for the guard at first, whose
 * warps are much faster than this one thread. Arrays in which there was nothing to release, and nothing has been freed
 * since, are passed by: else each of very many threads would look at everything. At `until` it breaks off.
 *
 * NOTHING: there is nothing to release. OTHERS: there may be, and it is for somebody else to do.
 */
GMOD_DEVICE_SLOW enum gmod_reclaim gmod_reclaim(struct gmod_device_heap *h, bool patient, gmod_u64 until)
{
	gmod_u32 first = (gmod_u32)(gmod_thread_id() % h->arrays);
	gmod_u64 stirs = gmod_heap_stirs(h) + 1, released = 0;
	bool others = false;

	for (gmod_u32 i = 0; i < h->arrays && !released && gmod_clock() < until; i++) {
		gmod_u32 array = (first + i) % h->arrays;

		if (gmod_load64_relaxed(&h->array[array].barren) == stirs)
			continue;
		if (patient)
			return GMOD_RECLAIM_OTHERS;
		if (gmod_guard_array(h, array, gmod_group_alone(), until, &released))
			gmod_add64_relaxed(&h->reclaims, 1);
		else
			others = true;
	}
	return released ? GMOD_RECLAIM_SOME : others ? GMOD_RECLAIM_OTHERS : GMOD_RECLAIM_NOTHING;
}

enum { GMOD_PAUSES_MAX = 128 }; /* at once: tens of thousands of threads may be waiting */

/* One thread's wait for memory. */
struct gmod_wait {
	gmod_u64 began, waited;  /* clock, 0: not yet; since then */
	gmod_u64 beaten, gained; /* and when the guard was last seen at work, and when there was last some gain */
	gmod_u64 gains;          /* gmod_gains() when memory was last looked for */
	gmod_u32 beat;
	int pauses;
	bool over; /* there was nothing to wait for */
};

/* Changes when anybody has got more memory into the heap, from the host or of what was freed. */
GMOD_DEVICE gmod_u64 gmod_gains(const struct gmod_device_heap *h)
{
	return gmod_load64_relaxed(&h->releases) + gmod_load32_relaxed(&h->given);
}

/* One allocation may have to wait for its block, and then for its entry: for no longer than for one of them. */
GMOD_DEVICE void gmod_wait_begin(const struct gmod_device_heap *h, struct gmod_wait *w)
{
	struct gmod_wait start = {gmod_clock(), 0, 0, 0, gmod_gains(h), gmod_load32_relaxed(&h->beat), 1, false};

	if (!w->began)
		*w = start;
	w->over = false;
}

/* Is the guard still to be expected? Who has waited for it in vain says so to all others: until it is there again. */
GMOD_DEVICE bool gmod_guard_may_come(struct gmod_device_heap *h, struct gmod_wait *w)
{
	gmod_u32 beat = gmod_load32_relaxed(&h->beat);

	w->waited = gmod_clock() - w->began;
	if (beat != w->beat) {
		w->beat = beat;
		w->beaten = w->waited;
	}
	if (gmod_load32_relaxed(&h->away) == beat + 1)
		return false;
	if (w->waited - w->beaten <= GMOD_GUARD_NS)
		return true;
	gmod_store32_relaxed(&h->away, beat + 1);
	return false;
}

GMOD_DEVICE void gmod_wait_a_little(struct gmod_wait *w)
{
	gmod_pause_for(w->pauses);
	w->pauses += w->pauses < GMOD_PAUSES_MAX;
}

/*
 * Wait until more memory is likely to be had, from the host or of what is freed already, for as long as that can be
 * expected: some ms. true: it is worth a try, which costs a look at all chunks. needs: bytes.
 */
GMOD_DEVICE_SLOW bool gmod_await_memory(struct gmod_device_heap *h, struct gmod_wait *w, gmod_u64 needs)
{
	while (w->waited < GMOD_SHORT_NS && !w->over) {
		bool patient = gmod_guard_may_come(h, w);
		enum gmod_reclaim r =
		    gmod_heap_extend(h) ? GMOD_RECLAIM_SOME : gmod_reclaim(h, patient, w->began + GMOD_SHORT_NS);
		gmod_u64 gains = gmod_gains(h);

		if (gains != w->gains) {
			w->gains = gains;
			w->gained = w->waited;
			if (r != GMOD_RECLAIM_SOME)
				gmod_wait_a_little(w); /* all who wait have seen the same */
			return true;
		}
		if (h->mode == GMOD_HEAP_SLAB && gmod_await_growth(h, needs, w->waited - w->gained))
			continue;
		if (r == GMOD_RECLAIM_NOTHING) {
			w->over = true;
			return true; /* others may have given something back since */
		}
		gmod_wait_a_little(w);
	}
	return false;
}

GMOD_DEVICE_SLOW gmod_u64 gmod_block_get_slowly(struct gmod_device_heap *h, struct gmod_wait *w, gmod_u64 needs,
						gmod_u64 *size)
{
	gmod_u64 block = 0;

	gmod_wait_begin(h, w);
	while (!block && gmod_await_memory(h, w, needs))
		block = gmod_block_get(h, needs, size);
	return block;
}

GMOD_DEVICE_SLOW struct gmod_entry *gmod_entry_get_slowly(struct gmod_device_heap *h, struct gmod_wait *w,
							  struct gmod_array *a, gmod_u32 *generation)
{
	struct gmod_entry *e = NULL;

	gmod_wait_begin(h, w);
	while (!e && gmod_await_memory(h, w, GMOD_SEGMENT_SIZE))
		e = gmod_array_reserve(h, a, generation);
	return e;
}

/* In native mode: where CUDA's heap is, as far as we have seen. */
GMOD_DEVICE void gmod_note_bounds(struct gmod_device_heap *h, gmod_u64 block, gmod_u64 size)
{
	gmod_u64 seen = gmod_load64_relaxed(&h->native_low), v;

	while (block < seen && (v = gmod_cas64_release(&h->native_low, seen, block)) != seen)
		seen = v;
	seen = gmod_load64_relaxed(&h->native_high);
	while (block + size > seen && (v = gmod_cas64_release(&h->native_high, seen, block + size)) != seen)
		seen = v;
}

GMOD_DEVICE_SLOW void *gmod_heap_malloc(struct gmod_device_heap *h, gmod_u64 size)
{
	struct gmod_array *a = &h->array[gmod_thread_id() % h->arrays];
	gmod_u64 needs = gmod_buffer_needs(size), block = 0, block_size, meta;
	struct gmod_entry *e = NULL;
	bool possible = needs > size && needs <= h->largest;
	struct gmod_wait w;
	gmod_u32 generation;

	w.began = 0;
	if (possible)
		block = gmod_block_get(h, needs, &block_size);
	if (!block && possible)
		block = gmod_block_get_slowly(h, &w, needs, &block_size);
	if (block)
		e = gmod_array_reserve(h, a, &generation);
	if (block && !e)
		e = gmod_entry_get_slowly(h, &w, a, &generation);
	if (!e) {
		if (block)
			gmod_release_block(h, block + GMOD_HEAD_SIZE, gmod_slab_place(h, block));
		gmod_add64_relaxed(&h->failed, 1);
		return NULL;
	}
	if (h->mode == GMOD_HEAP_NATIVE)
		gmod_note_bounds(h, block, block_size);
	meta = gmod_meta(size, generation);
	gmod_buffer_make(h->key, block + GMOD_HEAD_SIZE, meta, block_size);
	gmod_entry_publish(e, block + GMOD_HEAD_SIZE, meta, gmod_who());
	return (void *)(block + GMOD_HEAD_SIZE);
}

/* ---- free ---- */

GMOD_DEVICE_SLOW void gmod_say_bad_free(struct gmod_device_heap *h, gmod_u32 class_, gmod_u64 user, gmod_u64 meta)
{
	struct gmod_device_finding f = gmod_finding_new(class_, user, meta, GMOD_WHO_UNKNOWN);

	f.caller = gmod_who();
	if (!gmod_ring_put(h, &f))
		gmod_add64_relaxed(&h->findings_lost, 1);
}

/* Is there an entry for it? The long way, for what looks wrong already. */
GMOD_DEVICE_SLOW bool gmod_is_known(struct gmod_device_heap *h, gmod_u64 user)
{
	bool found = false;

	for (gmod_u32 i = 0; i < h->arrays && !found; i++) {
		struct gmod_array *a = &h->array[i];
		int tries = 0;

		while (!gmod_array_try_scan(a) && tries++ < GMOD_SEGMENT_WAIT)
			gmod_pause();
		if (tries > GMOD_SEGMENT_WAIT)
			return true; /* not known to be unknown */
		found = gmod_array_has(a, user);
		gmod_array_scanned(a);
	}
	return found;
}

/* In a chunk that nobody owns: what a buffer left there can still be read. */
GMOD_DEVICE bool gmod_is_in_free_chunk(const struct gmod_device_heap *h, gmod_u64 block)
{
	gmod_u32 chunk = (gmod_u32)((block - h->base) >> GMOD_CHUNK_BITS);

	return block >= h->base && block < h->end && chunk < gmod_load32_relaxed(&h->given) &&
	       gmod_control_kind(gmod_load64_relaxed(&h->chunk[chunk].control)) == GMOD_CHUNK_FREE;
}

/* May a pointer be looked at as a buffer of ours? What it points to is not read for that. */
GMOD_DEVICE bool gmod_may_be_ours(const struct gmod_device_heap *h, gmod_u64 user)
{
	gmod_u64 block = user - GMOD_HEAD_SIZE;

	if (user % 16)
		return false;
	if (h->mode == GMOD_HEAP_NATIVE)
		return block >= gmod_load64_relaxed(&h->native_low) && user < gmod_load64_relaxed(&h->native_high);
	return gmod_slab_place(h, block).size != 0 || gmod_is_in_free_chunk(h, block);
}

/* The size that a header says, if the head's canary bears it out; what is there may be anything. */
GMOD_DEVICE bool gmod_header_meta(const struct gmod_device_heap *h, gmod_u64 user, gmod_u64 header, gmod_u64 *meta,
				  gmod_u64 *state, struct gmod_secrets *s)
{
	gmod_u64 plain = header ^ gmod_header_pad(h->key, user);

	*state = plain & GMOD_STATE_MASK;
	*meta = plain & ~GMOD_STATE_MASK;
	*s = gmod_secrets_of(h->key, user, *meta);
	return gmod_load64_relaxed(gmod_head_word(user)) == s->head;
}

GMOD_DEVICE_SLOW void gmod_heap_free(struct gmod_device_heap *h, void *p)
{
	gmod_u64 user = (gmod_u64)p, header, meta, state;
	struct gmod_secrets s;

	if (!gmod_may_be_ours(h, user)) {
		gmod_say_bad_free(h, GMOD_DEVICE_INVALID_FREE, user, 0);
		return;
	}
	header = gmod_load64_relaxed(gmod_header_word(user));
	if (!gmod_header_meta(h, user, header, &meta, &state, &s)) {
		/* A buffer whose head is corrupt is the guard's to say; where none begins, the pointer is wrong. */
		if (!gmod_is_known(h, user))
			gmod_say_bad_free(h, GMOD_DEVICE_INVALID_FREE, user, 0);
		return;
	}
	if (state != GMOD_STATE_LIVE && state != GMOD_STATE_FREEING && state != GMOD_STATE_FREED &&
	    state != GMOD_STATE_DEAD)
		return; /* corrupt too */
	/* The one atomic that says who frees; acquire and release: see below and gmod_entry_look(). */
	if (state != GMOD_STATE_LIVE ||
	    gmod_cas64_release(gmod_header_word(user), header, (meta | GMOD_STATE_FREEING) ^ s.pad) != header) {
		gmod_say_bad_free(h, GMOD_DEVICE_DOUBLE_FREE, user, meta);
		return;
	}
	gmod_fill_freed(&s, user, gmod_meta_size(meta));
	/* release: the fill is there for the guard that finds it FREED */
	gmod_store64_release(gmod_header_word(user), (meta | GMOD_STATE_FREED) ^ s.pad);
	/* release: who sees the number finds the buffer FREED */
	gmod_add64_release(&h->freed[gmod_processor() % GMOD_SLOTS], 1);
}

/* The size of a live buffer, 0 for anything else. */
GMOD_DEVICE gmod_u64 gmod_heap_size_of(const struct gmod_device_heap *h, const void *p)
{
	gmod_u64 user = (gmod_u64)p, meta, state;
	struct gmod_secrets s;

	if (!gmod_may_be_ours(h, user) ||
	    !gmod_header_meta(h, user, gmod_load64_relaxed(gmod_header_word(user)), &meta, &state, &s))
		return 0;
	return state == GMOD_STATE_LIVE ? gmod_meta_size(meta) : 0;
}

#endif
