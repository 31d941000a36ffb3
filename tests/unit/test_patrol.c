/*
 * The patrol's kernel as C, thread by thread, over redzones that the CPU's own canaries are in: it names what differs,
 * nothing else, and follows no entry that somebody has scribbled on.
 */
#include "lib/buffers/patrol.cu"

#include <stdlib.h>

#include "monitor/registry/canary.h"
#include "tests/unit/support.h"

enum { ENTRIES = 2000, ROUNDS = 64, FIRST_SERIAL = 7 };

static const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

static struct gmod_patrol_entry list[ENTRIES];
static struct gmod_patrol_answers answers;
static uint8_t *memory[ENTRIES];
static int changed_at[ENTRIES]; /* -1: nowhere */
static unsigned found, wrong;

/* Sizes of all kinds; each tenth redzone is as long as that of a large buffer. */
static uint8_t *make(unsigned slot, uint64_t *length)
{
	uint64_t size = (slot * 37) % 700, total = (size + 64 + 511) / 512 * 512 + (slot % 10 ? 0 : 4096);
	uint8_t *at = aligned_alloc(512, total);
	struct gmod_canary c;

	assert_non_null(at);
	memory[slot] = at;
	*length = total - size < GMOD_PATROL_LENGTH ? total - size : GMOD_PATROL_LENGTH;
	memset(at, 0x33, total);
	gmod_canary_init(&c, key, (uintptr_t)at, size, slot + FIRST_SERIAL, GMOD_TAIL, (uintptr_t)at + size);
	gmod_canary_bytes(&c, (uintptr_t)at + size, (uintptr_t)at + size + *length, at + size);
	list[slot] = (struct gmod_patrol_entry){(uintptr_t)at, *length << 48 | size, slot + FIRST_SERIAL, 0};
	list[slot].check = gmod_patrol_check((const gmod_u64 *)key, &list[slot], slot);
	changed_at[slot] = -1;
	return at + size;
}

/* Once found, an entry is taken off. */
static void read_answer(gmod_u64 answer)
{
	unsigned slot = (unsigned)(answer >> 40), offset = answer >> 28 & 4095, serial = answer & 0xfffffff;

	if (slot >= ENTRIES || (int)offset != changed_at[slot] || serial != slot + FIRST_SERIAL) {
		wrong++;
		return;
	}
	found++;
	list[slot].check = 0;
}

static void run_round(const struct gmod_patrol_args *a)
{
	gmod_u32 blocks = gmod_patrol_blocks(a->count);

	for (gmod_u32 block = 0; block < blocks; block++) {
		for (gmod_u32 thread = 0; thread < GMOD_PATROL_THREADS; thread++)
			gmod_patrol(a, block, blocks, thread, GMOD_PATROL_THREADS);
		CHECK(answers.done[block] >> 8 == a->round, "block %u round %u", block, a->round);
		for (gmod_u64 i = 0; i < (answers.done[block] & 255) && i < GMOD_PATROL_CHANGED; i++)
			read_answer(answers.changed[block][i]);
	}
}

TEST(the_patrol_names_what_differs)
{
	struct gmod_patrol_args a = {{key[0], key[1]}, list, &answers, ENTRIES, 0};
	unsigned planted = 0;

	for (unsigned slot = 0; slot < ENTRIES; slot++) {
		uint64_t length;
		uint8_t *redzone = make(slot, &length);

		if (slot % 100 == 5) {
			/* Nobody's address: to follow it would be a crash. */
			list[slot].user = 0xdead0000;
		} else if (slot % 7 == 3) {
			changed_at[slot] = (int)(slot * 101 % length);
			redzone[changed_at[slot]] ^= 0x5a;
			planted++;
		}
	}
	for (a.round = 1; a.round <= ROUNDS; a.round++)
		run_round(&a);
	CHECK(found == planted && !wrong, "%u of %u found, %u wrong", found, planted, wrong);
	for (unsigned slot = 0; slot < ENTRIES; slot++)
		free(memory[slot]);
}
