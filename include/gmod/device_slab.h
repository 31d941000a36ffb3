/*
 * The slab allocator: blocks of 39 sizes cut from chunks of 64 KiB, and runs of chunks for what is larger.
 *
 * A chunk of a class hands out blocks in two steps: reserve some by taking from the number in its control word, then
 * pick as many bits from its bitmap. A release goes the other way round: bit, then number.
 *
 *   I1  A chunk's bitmap has at least as many bits as its number of free blocks and the reservations not yet picked.
 *       So who has reserved finds a bit, if not at once.
 *
 *   I2  Whoever takes more than there is gives the difference back. Meanwhile the number is too low, never too high,
 *       and low enough to be negative; the low half of the word does not change by it.
 *
 *   I3  Whoever changes the number from 0 or less to more than 0, by whatever, lists the chunk in its class's set.
 *       Whoever finds nothing in a listed chunk takes it off and then looks again. So a chunk with free blocks is
 *       listed, or somebody is about to list it.
 *
 *   I4  Only a control word whose number is that of all blocks turns into FREE: nobody has a block, nobody has reserved
 *       one, nobody has a difference to give back. A chunk that is FREE or LARGE keeps its number: who took from it by
 *       mistake gives it back.
 *
 *   I5  A chunk that is in the set of free chunks belongs to nobody; who takes it from there owns it until it has made
 *       it one of a class.
 *
 * Model: tests/models/slab.pml. Nothing waits for a lock; gmod_slab_grow() waits a bounded time for a thread that is
 * about to make a new chunk, so that not every warp of a multiprocessor makes one.
 */
#ifndef GMOD_DEVICE_SLAB_H
#define GMOD_DEVICE_SLAB_H

#include "device_set.h"

enum {
	GMOD_GROW_WAIT = 64,     /* pauses */
	GMOD_GROWTH_PAUSES = 40, /* between two looks whether the heap has grown */
};
#define GMOD_GROWTH_NS 30000000ull /* for the host to make it grow */

/* ---- sizes ---- */

/*
 * Block sizes: multiples of 16 from 32 to 128, then four to each doubling, so that at most a fifth of a block is
 * unused: 160, 192, 224, 256, 320, ... 32768.
 */
GMOD_DEVICE gmod_u32 gmod_class_of(gmod_u32 size)
{
	gmod_u32 log;

	if (size <= 128)
		return size <= GMOD_BLOCK_MIN ? 0 : (size + 15) / 16 - 2;
	log = (gmod_u32)gmod_log2(size - 1);
	return 3 + (log - 7) * 4 + ((size - 1) >> (log - 2));
}

GMOD_DEVICE gmod_u32 gmod_class_size(gmod_u32 class_)
{
	gmod_u32 log;

	if (class_ == GMOD_CLASS_ENTRIES)
		return GMOD_SEGMENT_SIZE;
	if (class_ < 7)
		return (class_ + 2) * 16;
	log = 7 + (class_ - 7) / 4;
	return (5 + (class_ - 7) % 4) << (log - 2);
}

GMOD_DEVICE gmod_u32 gmod_class_blocks(gmod_u32 class_)
{
	return GMOD_CHUNK_SIZE / gmod_class_size(class_);
}

/* ---- control words ---- */

GMOD_DEVICE int gmod_control_free(gmod_u64 control)
{
	return (int)(control >> 32);
}

GMOD_DEVICE gmod_u32 gmod_control_kind(gmod_u64 control)
{
	return (gmod_u32)control & 3;
}

GMOD_DEVICE gmod_u32 gmod_control_class(gmod_u64 control)
{
	return (gmod_u32)control >> 2 & 63;
}

GMOD_DEVICE bool gmod_control_is(gmod_u64 control, gmod_u32 class_)
{
	return gmod_control_kind(control) == GMOD_CHUNK_SLAB && gmod_control_class(control) == class_;
}

/* The same number, another kind and class, the next generation. */
GMOD_DEVICE gmod_u64 gmod_control_turned(gmod_u64 control, gmod_u32 kind, gmod_u32 class_)
{
	gmod_u64 generation = ((control >> 8 & 0xffffff) + 1) & 0xffffff;

	return (control >> 32 << 32) | generation << 8 | class_ << 2 | kind;
}

GMOD_DEVICE gmod_u64 gmod_chunk_address(const struct gmod_device_heap *h, gmod_u32 chunk)
{
	return h->base + ((gmod_u64)chunk << GMOD_CHUNK_BITS);
}

/* ---- memory for chunks ---- */

/* Tell the host that memory for so many chunks would be good to have. */
GMOD_DEVICE_SLOW void gmod_heap_ask(struct gmod_device_heap *h, gmod_u64 chunks)
{
	gmod_u32 limit = (gmod_u32)(gmod_load64_relaxed(&h->memory) >> 32), want, asked;

	want = chunks < limit ? (gmod_u32)chunks : limit;
	if (gmod_max32_relaxed(&h->asked, want) >= want)
		return;
	/* Who asked for less may write later than who asked for more: so each looks again. */
	do {
		asked = gmod_load32_relaxed(&h->asked);
		gmod_store64_system(&h->ring->wanted, asked);
	} while (gmod_load32_relaxed(&h->asked) != asked);
}

/* n chunks are in use from now on. The host is asked for more early, so that nobody has to wait for it. */
GMOD_DEVICE void gmod_chunks_used(struct gmod_device_heap *h, gmod_u32 n)
{
	gmod_u32 used = gmod_add32_relaxed(&h->used, n) + n, given = gmod_load32_relaxed(&h->given);

	if (used > gmod_load32_relaxed(&h->peak))
		gmod_max32_relaxed(&h->peak, used);
	if (used > given / 4 * 3)
		gmod_heap_ask(h, (gmod_u64)given * 2);
}

GMOD_DEVICE void gmod_chunks_unused(struct gmod_device_heap *h, gmod_u32 n)
{
	gmod_add32_relaxed(&h->used, 0u - n);
}

/* Fewer than n chunks are free: spares a look at all of them. Says so only where it has been so a moment ago. */
GMOD_DEVICE bool gmod_chunks_are_short(const struct gmod_device_heap *h, gmod_u32 n)
{
	return (int)(gmod_load32_relaxed(&h->given) - gmod_load32_relaxed(&h->used)) < (int)n;
}

/* ---- lists ---- */

/* After a change of a chunk's number from `before` to `after`: keeps I3, and lets go of a chunk nobody uses (I4). */
GMOD_DEVICE void gmod_chunk_settle(struct gmod_device_heap *h, gmod_u32 chunk, gmod_u64 before, gmod_u64 after)
{
	struct gmod_chunk *c = &h->chunk[chunk];
	gmod_u32 class_ = gmod_control_class(after);

	if (gmod_control_kind(after) != GMOD_CHUNK_SLAB)
		return;
	if (gmod_control_free(after) == (int)gmod_class_blocks(class_)) {
		gmod_u64 freed = gmod_control_turned(after & 0xffffffff, GMOD_CHUNK_FREE, 0);

		if (gmod_cas64_release(&c->control, after, freed) == after) {
			gmod_set_take(&h->class_chunks[class_], chunk);
			gmod_chunks_unused(h, 1);
			gmod_set_add(&h->free_chunks, chunk);
			return;
		}
	}
	if (gmod_control_free(before) <= 0 && gmod_control_free(after) > 0)
		gmod_set_add(&h->class_chunks[class_], chunk);
}

/* A chunk in a class's set had nothing for us. */
GMOD_DEVICE void gmod_chunk_unlist(struct gmod_device_heap *h, gmod_u32 chunk, gmod_u32 class_)
{
	gmod_u64 control;

	gmod_set_take(&h->class_chunks[class_], chunk);
	gmod_fence(); /* with the change of the number by whoever lists: one of us sees the other */
	control = gmod_load64_relaxed(&h->chunk[chunk].control);
	if (gmod_control_is(control, class_) && gmod_control_free(control) > 0)
		gmod_set_add(&h->class_chunks[class_], chunk);
}

/* ---- blocks of a class ---- */

/* Reserve up to `want` blocks of a chunk: how many there were. */
GMOD_DEVICE gmod_u32 gmod_chunk_reserve(struct gmod_device_heap *h, gmod_u32 chunk, gmod_u32 class_, gmod_u32 want)
{
	struct gmod_chunk *c = &h->chunk[chunk];
	gmod_u64 before = gmod_load64_relaxed(&c->control);
	int there;
	gmod_u32 got;

	if (!gmod_control_is(before, class_) || gmod_control_free(before) <= 0)
		return 0;
	/* acquire: the bits of the blocks that were released before (I1) */
	before = gmod_add64_acquire(&c->control, (gmod_u64)0 - ((gmod_u64)want << 32));
	there = gmod_control_is(before, class_) ? gmod_control_free(before) : 0;
	got = there <= 0 ? 0 : (gmod_u32)there < want ? (gmod_u32)there : want;
	if (got < want) {
		gmod_u64 back = (gmod_u64)(want - got) << 32;

		before = gmod_add64_release(&c->control, back);
		gmod_chunk_settle(h, chunk, before, before + back);
	}
	if (got && (gmod_u32)there == got) /* the last ones: spare others the look */
		gmod_chunk_unlist(h, chunk, class_);
	return got;
}

/* All set bits of v but the n lowest. */
GMOD_DEVICE gmod_u64 gmod_but_lowest(gmod_u64 v, gmod_u32 n)
{
	while (n-- && v)
		v &= v - 1;
	return v;
}

/*
 * One block for each of the group's lanes of rank [first, first + count), all reserved before: its address in their
 * *block. All lanes of the group take part.
 */
GMOD_DEVICE void gmod_chunk_pick(struct gmod_device_heap *h, gmod_u32 chunk, gmod_u32 class_, struct gmod_group g,
				 gmod_u32 first, gmod_u32 count, gmod_u64 *block)
{
	struct gmod_chunk *c = &h->chunk[chunk];
	gmod_u32 words = gmod_set_words(gmod_class_blocks(class_)), size = gmod_class_size(class_), done = 0;
	gmod_u32 w = (gmod_u32)(gmod_thread_id() / 32 * 7) % words;

	while (done < count) {
		gmod_u64 mine = 0;

		w = (gmod_u32)gmod_group_share(g, w);
		if (g.rank == 0) {
			mine = gmod_load64_relaxed(&c->free_blocks[w]);
			mine &= ~gmod_but_lowest(mine, count - done);
			/* acquire: what the block's last owner did to it is over */
			if (mine)
				mine &= gmod_and64_acquire(&c->free_blocks[w], ~mine);
		}
		mine = gmod_group_share(g, mine);
		if (g.rank >= first + done && g.rank < first + done + (gmod_u32)gmod_popcount(mine))
			*block =
			    gmod_chunk_address(h, chunk) +
			    (gmod_u64)(w * 64 + (gmod_u32)gmod_lowest(gmod_but_lowest(mine, g.rank - first - done))) *
				size;
		done += (gmod_u32)gmod_popcount(mine);
		w = (w + 1) % words;
	}
}

/* A block is free again. */
GMOD_DEVICE void gmod_block_release(struct gmod_device_heap *h, gmod_u32 chunk, gmod_u32 index)
{
	struct gmod_chunk *c = &h->chunk[chunk];
	gmod_u64 before;

	/* release, twice: our writes to the block are over, and the bit is there before the number says so (I1) */
	gmod_or64_release(&c->free_blocks[index / 64], 1ull << index % 64);
	before = gmod_add64_release(&c->control, 1ull << 32);
	gmod_chunk_settle(h, chunk, before, before + (1ull << 32));
}

/* ---- new chunks ---- */

/* Change a chunk of our own, and add to its number, which may be changing by mistake (I4): the new control word. */
GMOD_DEVICE gmod_u64 gmod_chunk_turn(struct gmod_chunk *c, gmod_u32 kind, gmod_u32 class_, gmod_u64 blocks)
{
	gmod_u64 before = gmod_load64_relaxed(&c->control), after, seen;

	for (;; before = seen) {
		after = gmod_control_turned(before, kind, class_) + (blocks << 32);
		/* release: the bitmap (I1), or the length of the run */
		seen = gmod_cas64_release(&c->control, before, after);
		if (seen == before)
			return after;
	}
}

/* Make a chunk of our own (I5) one of a class and list it. */
GMOD_DEVICE void gmod_chunk_found(struct gmod_device_heap *h, gmod_u32 chunk, gmod_u32 class_)
{
	struct gmod_chunk *c = &h->chunk[chunk];
	gmod_u32 blocks = gmod_class_blocks(class_);

	for (gmod_u32 w = 0; w < gmod_set_words(blocks); w++)
		gmod_store64_relaxed(&c->free_blocks[w],
				     blocks - w * 64 >= 64 ? ~0ull : (1ull << (blocks - w * 64)) - 1);
	if (gmod_control_free(gmod_chunk_turn(c, GMOD_CHUNK_SLAB, class_, blocks)) > 0)
		gmod_set_add(&h->class_chunks[class_], chunk);
}

/* Take a chunk from the set of free ones; GMOD_SET_NONE if there is none. */
GMOD_DEVICE gmod_u32 gmod_chunk_take(struct gmod_device_heap *h, gmod_u32 start)
{
	gmod_u32 chunk;

	if (gmod_chunks_are_short(h, 1))
		return GMOD_SET_NONE;
	chunk = gmod_set_take_any(&h->free_chunks, h->chunks, start);
	while (chunk == GMOD_SET_NONE) {
		chunk = gmod_set_find_all(&h->free_chunks, h->chunks);
		if (chunk == GMOD_SET_NONE || gmod_set_take(&h->free_chunks, chunk))
			break;
		chunk = GMOD_SET_NONE;
	}
	if (chunk != GMOD_SET_NONE)
		gmod_chunks_used(h, 1);
	return chunk;
}

/*
 * Where to look for a free chunk: apart from other multiprocessors, and for byte arrays far up. Their chunks stay, and
 * had better not lie in the midst of what could be one large buffer; and the chunks of buffers had better stay as they
 * are for a while when they are free: who frees a buffer twice is told so, and not that there never was one.
 */
GMOD_DEVICE gmod_u32 gmod_chunk_start(const struct gmod_device_heap *h, gmod_u32 class_, gmod_u32 slot)
{
	gmod_u32 given = gmod_load32_relaxed(&h->given);

	return slot * 2 + (class_ == GMOD_CLASS_ENTRIES ? given - given / 8 : class_);
}

/*
 * There is no chunk of this class with free blocks, as far as we can see, and the place's hint is as it was when we
 * looked: make one, or let another thread of this multiprocessor make it and wait a little. false: there is no free
 * chunk.
 */
GMOD_DEVICE_SLOW bool gmod_slab_grow(struct gmod_device_heap *h, gmod_u32 class_, gmod_u32 slot, gmod_u32 seen)
{
	gmod_u32 *growing = &h->growing[class_][slot];
	bool alone = gmod_cas32_acquire(growing, 0, 1) == 0;
	gmod_u32 chunk = 0;

	for (int i = 0; !alone && i < GMOD_GROW_WAIT; i++) {
		gmod_pause();
		if (gmod_load32_relaxed(&h->hint[class_][slot]) != seen)
			return true;
		alone = gmod_cas32_acquire(growing, 0, 1) == 0;
	}
	if (gmod_load32_relaxed(&h->hint[class_][slot]) == seen) {
		chunk = gmod_chunk_take(h, gmod_chunk_start(h, class_, slot));
		if (chunk != GMOD_SET_NONE) {
			gmod_chunk_found(h, chunk, class_);
			gmod_store32_relaxed(&h->hint[class_][slot], chunk + 1);
		}
	}
	if (alone)
		gmod_store32_release(growing, 0);
	return chunk != GMOD_SET_NONE;
}

/* Up to `want` blocks reserved in *chunk; 0: there are none. */
GMOD_DEVICE gmod_u32 gmod_slab_reserve(struct gmod_device_heap *h, gmod_u32 class_, gmod_u32 want, gmod_u32 *chunk)
{
	gmod_u32 slot = gmod_processor() % h->slots, hint, got;

	for (;;) {
		hint = gmod_load32_relaxed(&h->hint[class_][slot]);
		*chunk = hint - 1;
		got = hint ? gmod_chunk_reserve(h, *chunk, class_, want) : 0;
		if (got)
			return got;
		*chunk = gmod_set_find(&h->class_chunks[class_], h->chunks, hint);
		if (*chunk == GMOD_SET_NONE && !gmod_slab_grow(h, class_, slot, hint)) {
			*chunk = gmod_set_find_all(&h->class_chunks[class_], h->chunks);
			if (*chunk == GMOD_SET_NONE)
				return 0;
		}
		if (*chunk == GMOD_SET_NONE)
			continue;
		got = gmod_chunk_reserve(h, *chunk, class_, want);
		if (got) {
			gmod_store32_relaxed(&h->hint[class_][slot], *chunk + 1);
			return got;
		}
		gmod_chunk_unlist(h, *chunk, class_);
	}
}

/* A block for every lane of the group, all of which want this class; 0 for those that get none. */
GMOD_DEVICE gmod_u64 gmod_slab_allocate(struct gmod_device_heap *h, gmod_u32 class_, struct gmod_group g)
{
	gmod_u32 done = 0;
	gmod_u64 block = 0;

	while (done < g.size) {
		gmod_u32 chunk = 0, got = 0;
		gmod_u64 both;

		if (g.rank == 0)
			got = gmod_slab_reserve(h, class_, g.size - done, &chunk);
		both = gmod_group_share(g, (gmod_u64)got << 32 | chunk);
		got = (gmod_u32)(both >> 32);
		if (!got)
			break;
		gmod_chunk_pick(h, (gmod_u32)both, class_, g, done, got, &block);
		done += got;
	}
	return block;
}

/* ---- runs of chunks ---- */

/* The first of n members in a row of the set, at `from` or after it; GMOD_SET_NONE if there are none. */
GMOD_DEVICE gmod_u32 gmod_set_find_run(const struct gmod_set *s, gmod_u32 members, gmod_u32 from, gmod_u32 n)
{
	gmod_u32 run = 0;

	for (gmod_u32 i = from; i < members;) {
		gmod_u64 v = gmod_load64_relaxed(&s->words[i / 64]) >> i % 64;
		gmod_u32 left = 64 - i % 64, ones = ~v ? (gmod_u32)gmod_lowest(~v) : 64;

		if (ones > left)
			ones = left;
		run += ones;
		if (run >= n)
			return i + ones - run;
		i += ones;
		if (ones == left)
			continue;
		run = 0;
		v >>= ones;
		i += v ? (gmod_u32)gmod_lowest(v) : left - ones;
	}
	return GMOD_SET_NONE;
}

/* Bits of one word for the members [first, first + n) that fall into it; *n_here says how many those are. */
GMOD_DEVICE gmod_u64 gmod_run_mask(gmod_u32 first, gmod_u32 n, gmod_u32 *n_here)
{
	gmod_u32 left = 64 - first % 64;

	*n_here = n < left ? n : left;
	return (*n_here == 64 ? ~0ull : (1ull << *n_here % 64) - 1) << first % 64;
}

GMOD_DEVICE void gmod_run_give(struct gmod_device_heap *h, gmod_u32 first, gmod_u32 n)
{
	gmod_u32 here;

	for (; n; first += here, n -= here) {
		gmod_u64 mask = gmod_run_mask(first, n, &here);

		gmod_set_add_mask(&h->free_chunks, first / 64, mask);
	}
}

/* Take all of a run, or nothing: then *first is where to look next. */
GMOD_DEVICE bool gmod_run_take(struct gmod_device_heap *h, gmod_u32 *first, gmod_u32 n)
{
	gmod_u32 at = *first, rest = n, here;

	for (; rest; at += here, rest -= here) {
		gmod_u64 mask = gmod_run_mask(at, rest, &here);
		gmod_u64 got = gmod_set_take_mask(&h->free_chunks, at / 64, mask);

		if (got == mask)
			continue;
		gmod_set_add_mask(&h->free_chunks, at / 64, got);
		gmod_run_give(h, *first, at - *first);
		*first = at;
		return false;
	}
	return true;
}

/* Chunks in a row for `size` bytes: their address, 0 if there are none. */
GMOD_DEVICE_SLOW gmod_u64 gmod_run_allocate(struct gmod_device_heap *h, gmod_u64 size)
{
	gmod_u64 chunks = (size + GMOD_CHUNK_SIZE - 1) >> GMOD_CHUNK_BITS;
	gmod_u32 first = 0;

	if (chunks > h->chunks || gmod_chunks_are_short(h, (gmod_u32)chunks))
		return 0;
	for (;;) {
		first = gmod_set_find_run(&h->free_chunks, h->chunks, first, (gmod_u32)chunks);
		if (first == GMOD_SET_NONE)
			return 0;
		if (gmod_run_take(h, &first, (gmod_u32)chunks))
			break;
	}
	gmod_chunks_used(h, (gmod_u32)chunks);
	gmod_store64_relaxed(&h->chunk[first].run, chunks);
	gmod_chunk_turn(&h->chunk[first], GMOD_CHUNK_LARGE, 0, 0);
	return gmod_chunk_address(h, first);
}

GMOD_DEVICE void gmod_run_release(struct gmod_device_heap *h, gmod_u32 first)
{
	gmod_u32 n = (gmod_u32)gmod_load64_relaxed(&h->chunk[first].run);

	gmod_chunk_turn(&h->chunk[first], GMOD_CHUNK_FREE, 0, 0);
	gmod_chunks_unused(h, n);
	gmod_run_give(h, first, n);
}

/* ---- growing ---- */

/* Chunks that have got memory since the last time become free ones; false: there are none. */
GMOD_DEVICE bool gmod_heap_extend(struct gmod_device_heap *h)
{
	/* relaxed: the host has mapped the memory before it said so, and nothing is in it yet */
	gmod_u32 committed = (gmod_u32)gmod_load64_relaxed(&h->memory), given = gmod_load32_relaxed(&h->given), seen;

	while (given < committed) {
		seen = gmod_cas32_acquire(&h->given, given, committed);
		if (seen == given) {
			gmod_run_give(h, given, committed - given);
			return true;
		}
		given = seen;
	}
	return false;
}

/* Can it be worth waiting for the host? */
GMOD_DEVICE bool gmod_heap_may_grow(const struct gmod_device_heap *h)
{
	gmod_u32 given = gmod_load32_relaxed(&h->given);

	return given < (gmod_u32)(gmod_load64_relaxed(&h->memory) >> 32) &&
	       gmod_load32_relaxed(&h->refused) != given + 1;
}

GMOD_DEVICE void gmod_pause_for(int n)
{
	while (n--)
		gmod_pause();
}

/* Ask the host for so much more, and wait a little; waited: so long already, in ns. false: no more is to be expected.
 */
GMOD_DEVICE_SLOW bool gmod_await_growth(struct gmod_device_heap *h, gmod_u64 needs, gmod_u64 waited)
{
	gmod_u32 given = gmod_load32_relaxed(&h->given);

	if (!gmod_heap_may_grow(h) || needs >> GMOD_CHUNK_BITS >= h->chunks)
		return false;
	if (waited > GMOD_GROWTH_NS) {
		gmod_store32_relaxed(&h->refused, given + 1);
		return false;
	}
	gmod_heap_ask(h, given + given / 2 + (needs >> GMOD_CHUNK_BITS) + 1);
	gmod_pause_for(GMOD_GROWTH_PAUSES);
	return true;
}

/* ---- which block is it ---- */

struct gmod_place {
	gmod_u32 chunk, index; /* index: of the block in its chunk */
	gmod_u64 block, size;  /* size 0: no block begins there, or none that is handed out */
};

/* The block that begins at an address, whatever that is; reads nothing outside the chunk table. */
GMOD_DEVICE struct gmod_place gmod_slab_place(const struct gmod_device_heap *h, gmod_u64 block)
{
	struct gmod_place p = {0, 0, block, 0};
	gmod_u32 offset = (gmod_u32)block & (GMOD_CHUNK_SIZE - 1), size;
	gmod_u64 control;

	if (block < h->base || block >= h->end)
		return p;
	p.chunk = (gmod_u32)((block - h->base) >> GMOD_CHUNK_BITS);
	/* acquire: bitmap or length, as they were made before the kind was set */
	control = gmod_load64_acquire(&h->chunk[p.chunk].control);
	if (gmod_control_kind(control) == GMOD_CHUNK_LARGE && !offset)
		p.size = gmod_load64_relaxed(&h->chunk[p.chunk].run) << GMOD_CHUNK_BITS;
	if (gmod_control_kind(control) != GMOD_CHUNK_SLAB || gmod_control_class(control) == GMOD_CLASS_ENTRIES)
		return p;
	size = gmod_class_size(gmod_control_class(control));
	p.index = offset / size;
	if (p.index * size == offset && p.index < gmod_class_blocks(gmod_control_class(control)))
		p.size = size;
	return p;
}

GMOD_DEVICE void gmod_slab_release(struct gmod_device_heap *h, struct gmod_place p)
{
	if (p.size >= GMOD_CHUNK_SIZE)
		gmod_run_release(h, p.chunk);
	else
		gmod_block_release(h, p.chunk, p.index);
}

#endif
