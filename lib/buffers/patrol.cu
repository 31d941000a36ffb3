/*
 * The patrol: a kernel that looks at redzones in device memory and says which of them differ. See patrol_list.h.
 *
 * CUDA for nvcc, and C (-x c) for the simulated driver, which calls gmod_patrol() for each thread, the threads of a
 * block one after another.
 *
 * Eight lanes look at an entry together. Each loads a word of the entry and makes one of the three hashes that it takes
 * (the check, and the subkey of the canary), then each looks at a word next to the buffer and at one of those whose
 * turn it is. So a round over few entries is short: what it costs the program is how long it lasts, since a kernel that
 * begins meanwhile finds one multiprocessor with less room than the others and ends later by as much.
 *
 * Words are read whole, so up to 7 bytes of the program's own beside them too, which lie in the same allocation.
 */
#include "lib/buffers/patrol_list.h"

enum { SAME = GMOD_PATROL_LENGTH };

/* Word i of an entry, as the host has it now. */
GMOD_DEVICE gmod_u64 entry_word(const struct gmod_patrol_entry *at, gmod_u32 i)
{
	return gmod_load64_system((const gmod_u64 *)at + i);
}

/* 0 and 1: the subkey of the tail's canary, 2: the check. */
GMOD_DEVICE gmod_u64 entry_hash(const struct gmod_patrol_args *a, const struct gmod_patrol_entry *e, gmod_u32 slot,
				gmod_u32 i)
{
	const gmod_u64 size = e->extent & 0xffffffffffffull;

	return gmod_sip_of(a->key[0], a->key[1], e->user, i == 2 ? e->extent : size, e->serial, i == 2 ? slot : 1, i);
}

#if defined(__CUDACC__)

#define SHARED __shared__

/* A group of lanes takes one entry: where this one is in it. */
enum { LANES = 8 };

GMOD_DEVICE gmod_u32 lane_of(gmod_u32 thread)
{
	return thread % LANES;
}

GMOD_DEVICE gmod_u32 group_of(gmod_u32 thread)
{
	return 0xffu << (thread & 24);
}

GMOD_DEVICE void load_entry(const struct gmod_patrol_entry *at, gmod_u32 thread, struct gmod_patrol_entry *e)
{
	const gmod_u32 group = group_of(thread);
	const gmod_u64 word = entry_word(at, thread % 4);

	e->user = __shfl_sync(group, word, 0, LANES);
	e->extent = __shfl_sync(group, word, 1, LANES);
	e->serial = __shfl_sync(group, word, 2, LANES);
	e->check = __shfl_sync(group, word, 3, LANES);
}

GMOD_DEVICE void hash_entry(const struct gmod_patrol_args *a, const struct gmod_patrol_entry *e, gmod_u32 slot,
			    gmod_u32 thread, gmod_u64 hash[3])
{
	const gmod_u32 group = group_of(thread);
	const gmod_u64 word = entry_hash(a, e, slot, lane_of(thread) < 2 ? lane_of(thread) : 2);

	for (int i = 0; i < 3; i++)
		hash[i] = __shfl_sync(group, word, i, LANES);
}

/* The least of the group's offsets in one lane, SAME in the others. */
GMOD_DEVICE gmod_u32 one_of_group(gmod_u32 offset, gmod_u32 thread)
{
	const gmod_u32 group = group_of(thread);

	for (int step = 1; step < LANES; step *= 2)
		offset = min(offset, __shfl_xor_sync(group, offset, step, LANES));
	return lane_of(thread) == 0 ? offset : SAME;
}

GMOD_DEVICE void meet(void)
{
	__syncthreads();
}

GMOD_DEVICE gmod_u32 add_in_block(gmod_u32 *p, gmod_u32 v)
{
	return atomicAdd(p, v);
}

#else /* a thread takes an entry by itself, and so that the blocks do the same the others of its eight take none */

#define SHARED static _Thread_local

enum { LANES = 1 };

GMOD_DEVICE gmod_u32 lane_of(gmod_u32 thread)
{
	(void)thread;
	return 0;
}

GMOD_DEVICE void load_entry(const struct gmod_patrol_entry *at, gmod_u32 thread, struct gmod_patrol_entry *e)
{
	(void)thread;
	e->user = entry_word(at, 0);
	e->extent = entry_word(at, 1);
	e->serial = entry_word(at, 2);
	e->check = entry_word(at, 3);
}

GMOD_DEVICE void hash_entry(const struct gmod_patrol_args *a, const struct gmod_patrol_entry *e, gmod_u32 slot,
			    gmod_u32 thread, gmod_u64 hash[3])
{
	(void)thread;
	for (gmod_u32 i = 0; i < 3; i++)
		hash[i] = entry_hash(a, e, slot, i);
}

GMOD_DEVICE gmod_u32 one_of_group(gmod_u32 offset, gmod_u32 thread)
{
	(void)thread;
	return offset;
}

GMOD_DEVICE void meet(void)
{
}

GMOD_DEVICE gmod_u32 add_in_block(gmod_u32 *p, gmod_u32 v)
{
	*p += v;
	return *p - v;
}

#endif

/* A byte of 0x00 or 0xff is what a stray store of one most often writes: monitor/registry/canary.def has none, too. */
GMOD_DEVICE gmod_u64 without_plain_bytes(gmod_u64 v)
{
	const gmod_u64 low = 0x7f7f7f7f7f7f7f7full, one = 0x0101010101010101ull;
	gmod_u64 zero = ~(((v & low) + low) | v | low), ones = ~(((~v & low) + low) | ~v | low);

	/* zero, ones: 0x80 in each such byte; make it 0x5a or 0xa5 */
	return v ^ ((zero >> 7) & one) * 0x5a ^ ((ones >> 7) & one) * 0x5a;
}

/* Word number i of the canary with this subkey. */
GMOD_DEVICE gmod_u64 canary_word(const gmod_u64 subkey[2], gmod_u64 i)
{
	struct gmod_sip s = gmod_sip_start(subkey[0], subkey[1]);

	gmod_sip_absorb(&s, i);
	gmod_sip_absorb(&s, 8ull << 56);
	return without_plain_bytes(gmod_sip_finish(&s));
}

/* The number of the lowest byte of v that is not 0; v is not 0. */
GMOD_DEVICE gmod_u32 lowest_byte(gmod_u64 v)
{
	const gmod_u32 low = (gmod_u32)v;

	return (low ? gmod_lowest(low) : 32 + gmod_lowest((gmod_u32)(v >> 32))) / 8;
}

/* The offset of the first byte of word number i of [from, to) that differs, or SAME. */
GMOD_DEVICE gmod_u32 look(const gmod_u64 subkey[2], gmod_u64 from, gmod_u64 to, gmod_u32 i)
{
	const gmod_u64 at = (from & ~7ull) + 8ull * i;
	const gmod_u32 first = at < from ? (gmod_u32)(from - at) : 0, last = to - at < 8 ? (gmod_u32)(to - at) : 8;
	const gmod_u64 mask = ~0ull << 8 * first & ~0ull >> (64 - 8 * last) % 64;
	gmod_u64 differs;

	if (at >= to)
		return SAME;
	differs = gmod_load_part(at, mask); /* on its way while the other is made */
	differs ^= canary_word(subkey, i) & mask;
	return differs ? (gmod_u32)(at + lowest_byte(differs) - from) : SAME;
}

/* What differs of an entry in this round. */
GMOD_DEVICE gmod_u32 visit(const struct gmod_patrol_args *a, gmod_u32 slot, gmod_u32 thread, gmod_u64 *serial)
{
	struct gmod_patrol_entry e;
	gmod_u64 hash[3], from, to;
	gmod_u32 words, piece = 0, offset = SAME;

	load_entry(&a->list[slot], thread, &e);
	hash_entry(a, &e, slot, thread, hash);
	if (hash[2] != e.check)
		return SAME;
	*serial = e.serial;
	from = e.user + (e.extent & 0xffffffffffffull);
	to = from + (e.extent >> 48);
	words = (gmod_u32)((to - (from & ~7ull) + 7) / 8);
	if (words > GMOD_PATROL_LOOK)
		piece = 1 + a->round % ((words - 1) / GMOD_PATROL_LOOK);
	GMOD_ROLLED
	for (gmod_u32 turn = 0; turn < 2; turn++)
		for (gmod_u32 i = lane_of(thread); i < GMOD_PATROL_LOOK; i += LANES) {
			gmod_u32 found = look(hash, from, to, turn * piece * GMOD_PATROL_LOOK + i);

			if (found < offset)
				offset = found;
		}
	return one_of_group(offset, thread);
}

GMOD_DEVICE void gmod_patrol_thread(const struct gmod_patrol_args *a, gmod_u32 block, gmod_u32 blocks, gmod_u32 thread,
				    gmod_u32 threads)
{
	SHARED gmod_u32 differ;

	if (thread == 0)
		differ = 0;
	meet();
	for (gmod_u32 slot = (block * threads + thread) / 8; slot < a->count && thread % (8 / LANES) == 0;
	     slot += blocks * threads / 8) {
		gmod_u64 serial = 0;
		gmod_u32 offset = visit(a, slot, thread, &serial);
		gmod_u32 n = offset == SAME ? GMOD_PATROL_CHANGED : add_in_block(&differ, 1);

		if (n < GMOD_PATROL_CHANGED)
			gmod_store64_system(&a->answers->changed[block][n],
					    (gmod_u64)slot << 40 | (gmod_u64)offset << 28 | (serial & 0xfffffff));
	}
	meet();
	/* Whoever reads done sees what all threads of the block wrote above. A round over nothing has no answer. */
	if (thread == threads - 1 && a->count)
		gmod_store64_release_system(&a->answers->done[block],
					    (gmod_u64)a->round << 8 | (differ < 255 ? differ : 255));
}

#if defined(__CUDACC__)

extern "C" __global__ void gmod_patrol(const struct gmod_patrol_args a)
{
	gmod_patrol_thread(&a, blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
}

#else

void gmod_patrol(const struct gmod_patrol_args *a, gmod_u32 block, gmod_u32 blocks, gmod_u32 thread, gmod_u32 threads);
void gmod_patrol(const struct gmod_patrol_args *a, gmod_u32 block, gmod_u32 blocks, gmod_u32 thread, gmod_u32 threads)
{
	gmod_patrol_thread(a, block, blocks, thread, threads);
}

#endif
