/*
 * What the patrol's kernel (lib/buffers/patrol.cu) and the CPU share: the list of redzones, and the answers.
 *
 * A redzone is the bytes [user + size, user + size + length) behind a buffer. Its bytes are the words of the buffer's
 * tail canary (monitor/registry/canary.h), which the kernel makes anew: there is no copy of them that a stray store
 * could hit.
 *
 * The list and the answers lie where kernels of the program can write. So the kernel believes an entry only where its
 * check verifies, and the CPU fetches the bytes that an answer names and judges by itself. The key is nowhere but in
 * the host's memory and in the arguments of the launch.
 *
 *	free ──► made: the check is right ──► looked at in each round ──► taken off: check = 0 ──► free
 *
 * An entry that is half written does not verify, so the CPU writes and clears it with plain stores. A round launched
 * after the clearing does not look. A round in flight may still: whoever frees the memory waits for it, as every free
 * of device memory waits for all kernels of the context.
 */
#ifndef GMOD_LIB_BUFFERS_PATROL_LIST_H
#define GMOD_LIB_BUFFERS_PATROL_LIST_H

#include "monitor/registry/sip.h"

enum {
	GMOD_PATROL_LENGTH = 4096, /* bytes of a redzone, at most */
	GMOD_PATROL_LOOK = 8,      /* words looked at in each round: these next to the buffer, and as many in turn */
	GMOD_PATROL_THREADS = 128, /* of a block */
	GMOD_PATROL_ENTRIES = GMOD_PATROL_THREADS / 8, /* that a block looks at, at a time */
	GMOD_PATROL_BLOCKS = 1024, /* of a round, at most: with more entries each takes several turns */
	GMOD_PATROL_CHANGED = 7,   /* answers of a block; what is left out is found in the next round */
};

/* 32 bytes, aligned so: one piece on its way from the host. */
struct gmod_patrol_entry {
	gmod_u64 user;
	gmod_u64 extent; /* length << 48 | size */
	gmod_u64 serial;
	gmod_u64 check; /* gmod_patrol_check() */
};

/*
 * Each block writes its own part, its done last: round << 8 | how many entries differ (255: or more). So there is no
 * counter on the device that a stray store could hit, and the CPU reads eight blocks a line while nothing differs.
 */
struct gmod_patrol_answers {
	gmod_u64 done[GMOD_PATROL_BLOCKS];
	gmod_u64 changed[GMOD_PATROL_BLOCKS][GMOD_PATROL_CHANGED]; /* slot << 40 | offset << 28 | low bits of serial */
};

struct gmod_patrol_args {
	gmod_u64 key[2];
	const struct gmod_patrol_entry *list;
	struct gmod_patrol_answers *answers;
	gmod_u32 count; /* of entries */
	gmod_u32 round;
};

/* Of an entry and the slot it is for. The fifth word tells it from the subkeys of canaries, which have 0 and 1. */
GMOD_DEVICE gmod_u64 gmod_patrol_check(const gmod_u64 key[2], const struct gmod_patrol_entry *e, gmod_u64 slot)
{
	return gmod_sip_of(key[0], key[1], e->user, e->extent, e->serial, slot, 2);
}

/* How many blocks a round of so many entries takes. */
GMOD_DEVICE gmod_u32 gmod_patrol_blocks(gmod_u32 count)
{
	gmod_u32 blocks = (count + GMOD_PATROL_ENTRIES - 1) / GMOD_PATROL_ENTRIES;

	return blocks < GMOD_PATROL_BLOCKS ? blocks : GMOD_PATROL_BLOCKS;
}

#endif
