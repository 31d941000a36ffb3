/*
 * Blocks out of CUDA's own heap, with heap=native.
 *
 * Lanes that ask at the same time, for no more than GMOD_SHARED_MAX bytes each, get one piece of CUDA's malloc between
 * them, because that is what costs: 64 bytes for each of 102 400 threads take 8 ms, 72 bytes 20 ms and more (H200), and
 * with canaries every request is larger than the program's. A piece goes back when its last block has been released.
 *
 *     piece: │ blocks not yet released │ 0 │ link, block │ link, block │ ...
 *     link:  the piece's address, twice, under two pads that are the block's own
 *
 * What lies in front of a block may have been overwritten by whoever overran the one before it, so a link counts only
 * if both of its halves say the same; a block whose link is gone is never given back, and neither is its piece.
 */
#ifndef GMOD_DEVICE_NATIVE_H
#define GMOD_DEVICE_NATIVE_H

#include "device_buffer.h"

enum { GMOD_PIECE_HEADER = 16, GMOD_LINK_SIZE = 16, GMOD_SHARED_MAX = 4096 };

GMOD_DEVICE void gmod_link_pads(const struct gmod_device_heap *h, gmod_u64 block, gmod_u64 out[2])
{
	gmod_sip128(h->key, block, ~1ull, out);
}

/* A piece for all lanes of the group: the calling lane's block in it; 0 for all of them if there is no memory. */
GMOD_DEVICE gmod_u64 gmod_native_share(struct gmod_device_heap *h, gmod_u64 needs, struct gmod_group g)
{
	gmod_u64 mine = GMOD_LINK_SIZE + ((needs + 15) & ~15ull), below, piece = 0, block, pad[2];
	gmod_u64 all = gmod_group_scan(g, mine, &below);

	if (g.rank == 0) {
		piece = (gmod_u64)gmod_native_malloc(GMOD_PIECE_HEADER + all);
		if (piece)
			gmod_store64_relaxed(gmod_words_at(piece), g.size);
	}
	piece = gmod_group_share(g, piece);
	if (!piece)
		return 0;
	block = piece + GMOD_PIECE_HEADER + below + GMOD_LINK_SIZE;
	gmod_link_pads(h, block, pad);
	gmod_store64_relaxed(gmod_words_at(block - 16), piece ^ pad[0]);
	gmod_store64_relaxed(gmod_words_at(block - 8), piece ^ pad[1]);
	return block;
}

GMOD_DEVICE gmod_u64 gmod_native_allocate(struct gmod_device_heap *h, gmod_u64 needs)
{
	bool shared = needs <= GMOD_SHARED_MAX;
	struct gmod_group g = gmod_group_of(shared);
	gmod_u64 block = 0;

	if (shared && g.size > 1)
		block = gmod_native_share(h, needs, g);
	return block ? block : gmod_native_share(h, needs, gmod_group_alone());
}

GMOD_DEVICE void gmod_native_release(struct gmod_device_heap *h, gmod_u64 block)
{
	gmod_u64 pad[2], piece;

	gmod_link_pads(h, block, pad);
	piece = gmod_load64_relaxed(gmod_words_at(block - 16)) ^ pad[0];
	if (piece != (gmod_load64_relaxed(gmod_words_at(block - 8)) ^ pad[1]))
		return;
	/* acquire and release: all owners are done with theirs */
	if (gmod_add64_release(gmod_words_at(piece), ~0ull) == 1)
		gmod_native_free((void *)piece);
}

#endif
