/* The guard's look at a chunk that becomes something else meanwhile. */

#include "tests/unit/device_heap.h"

static struct test_heap heap;

FIXTURE(slab)
{
	heap = heap_make(1, 1);
	return 0;
}

FIXTURE(drop)
{
	struct test_finding finding;

	assert_int_equal(take_findings(&heap, &finding, 1), 0);
	heap_drop(&heap);
	return 0;
}

/*
 * The only chunk has had a block of `size` bytes at its third entry, which is DEAD, and is a run now, whose user's
 * bytes begin there. Returns the entry's place, and what the chunk's control word was.
 */
static gmod_u64 place_in_a_run(gmod_u64 size, gmod_u64 *control)
{
	gmod_u64 place, whole[3], run;

	for (int i = 0; i < 3; i++)
		whole[i] = (gmod_u64)(uintptr_t)gmod_heap_malloc(size, 16);
	place = gmod_place(gmod_chunk_address(0) + 2 * GMOD_ENTRY_SIZE, gmod_place_class(gmod_place_at(whole[0])));
	*control = gmod_load64_relaxed(gmod_control_of(0));
	/* One thread's blocks may be any: have the third one among them. */
	while (gmod_entry_state_of(gmod_entry_at(place)->word) != GMOD_ENTRY_LIVE) {
		gmod_cpu_thread.in_block++;
		for (int i = 0; i < 3; i++) {
			gmod_heap_free((void *)(uintptr_t)whole[i]);
			whole[i] = (gmod_u64)(uintptr_t)gmod_heap_malloc(size, 16);
			assert_int_not_equal(whole[i], 0);
		}
		*control = gmod_load64_relaxed(gmod_control_of(0));
	}
	for (int i = 0; i < 3; i++)
		gmod_heap_free((void *)(uintptr_t)whole[i]);
	assert_int_equal(gmod_entry_state_of(gmod_entry_at(place)->word), GMOD_ENTRY_DEAD);
	run = (gmod_u64)(uintptr_t)gmod_heap_malloc(60000, 16);
	assert_int_equal(run, (gmod_u64)(uintptr_t)gmod_entry_at(place));
	return place;
}

/* One byte of the program's is enough to make an entry of before FREED, or any other state. */
TEST_FIXTURE(bytes_of_a_run_are_no_entry, slab, drop)
{
	struct gmod_share seen = {0, 0, 0};
	gmod_u64 control, now, place = place_in_a_run(200, &control), *word = &gmod_entry_at(place)->word, was = *word;
	uint64_t before = released(&heap);

	now = gmod_load64_relaxed(gmod_control_of(0));
	for (gmod_u64 low = 0; low < 16; low++) {
		*word = (was & GMOD_ENTRY_WHAT) | low;
		gmod_guard_look(place, control, &seen);
		assert_int_equal(*word, (was & GMOD_ENTRY_WHAT) | low);
	}
	assert_int_equal(released(&heap), before);
	assert_int_equal(gmod_load64_relaxed(gmod_control_of(0)), now);
	assert_int_equal(seen.waiting, 0);
}
