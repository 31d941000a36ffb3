/* The slab allocator of the device heap: sizes, blocks, runs, and that everything comes back. */
#include "tests/unit/device_heap.h"

enum { CHUNKS = 256 };

TEST(every_size_fits_its_class)
{
	uint32_t before = 0;

	for (uint32_t size = 1; size <= GMOD_BLOCK_MAX; size++) {
		uint32_t class_ = gmod_class_of(size);

		assert_true(class_ < GMOD_CLASSES);
		assert_true(gmod_class_size(class_) >= size);
		assert_true(class_ == 0 || gmod_class_size(class_ - 1) < size);
		assert_true(class_ >= before);
		before = class_;
	}
	assert_int_equal(gmod_class_size(GMOD_CLASSES - 1), GMOD_BLOCK_MAX);
	assert_int_equal(gmod_class_blocks(GMOD_CLASS_ENTRIES), 3);
	for (uint32_t c = 0; c < GMOD_CLASSES; c++)
		assert_int_equal(gmod_class_size(c) % 16, 0);
}

TEST(sets_find_what_is_in_them)
{
	struct test_heap t = heap_make(20000, 1, GMOD_HEAP_SLAB);
	struct gmod_set *s = &t.heap->free_chunks;

	for (uint32_t i = 0; i < 20000; i++)
		assert_true(gmod_set_take(s, i));
	assert_int_equal(gmod_set_find(s, 20000, 0), GMOD_SET_NONE);
	assert_int_equal(gmod_set_find_all(s, 20000), GMOD_SET_NONE);
	for (uint32_t i = 0; i < 20000; i += 4999)
		for (uint32_t start = 0; start < 20000; start += 777) {
			gmod_set_add(s, i);
			assert_int_equal(gmod_set_find(s, 20000, start), i);
			assert_int_equal(gmod_set_find_all(s, 20000), i);
			assert_true(gmod_set_take(s, i));
			assert_false(gmod_set_take(s, i));
		}
	gmod_set_add(s, 100);
	gmod_set_add(s, 120);
	assert_int_equal(gmod_set_find(s, 20000, 101), 120);
	heap_drop(&t);
}

static uint64_t allocate(struct test_heap *t, uint32_t size)
{
	return gmod_slab_allocate(t->heap, gmod_class_of(size), gmod_group_alone());
}

TEST(blocks_are_apart_and_come_back)
{
	struct test_heap t = heap_make(CHUNKS, 1, GMOD_HEAP_SLAB);
	static uint64_t block[CHUNKS * 2048 + 1];

	for (uint32_t class_ = 0; class_ < GMOD_CLASSES; class_++) {
		uint32_t size = gmod_class_size(class_), n = 0, most = CHUNKS * gmod_class_blocks(class_);

		while ((block[n] = allocate(&t, size))) {
			assert_true(n < most);
			assert_true(block[n] >= t.heap->base && block[n] + size <= t.heap->end);
			/* each is written all over, and keeps what was written */
			*(uint64_t *)block[n] = n;
			*(uint64_t *)(block[n] + size - 8) = n;
			n++;
		}
		assert_int_equal(n, most);
		for (uint32_t i = 0; i < n; i++) {
			struct gmod_place p = gmod_slab_place(t.heap, block[i]);

			assert_true(*(uint64_t *)block[i] == i && *(uint64_t *)(block[i] + size - 8) == i);
			assert_int_equal(p.size, size);
			assert_false(t.heap->chunk[p.chunk].free_blocks[p.index / 64] >> p.index % 64 & 1);
			assert_int_equal(gmod_slab_place(t.heap, block[i] + 16).size, 0);
			gmod_slab_release(t.heap, p);
		}
		assert_int_equal(free_chunks(&t), CHUNKS);
	}
	assert_int_equal(gmod_slab_place(t.heap, t.heap->base - 65536).size, 0);
	assert_int_equal(gmod_slab_place(t.heap, t.heap->end).size, 0);
	assert_int_equal(gmod_slab_place(t.heap, 0).size, 0);
	assert_int_equal(gmod_slab_place(t.heap, ~0ull << 16).size, 0);
	heap_drop(&t);
}

TEST(holes_are_used_again)
{
	struct test_heap t = heap_make(4, 1, GMOD_HEAP_SLAB);
	uint64_t block[4 * 2048 + 1];
	uint32_t n = 0;

	while ((block[n] = allocate(&t, 32)))
		n++;
	for (uint32_t i = 0; i < n; i += 2)
		gmod_slab_release(t.heap, gmod_slab_place(t.heap, block[i]));
	for (uint32_t i = 0; i < n; i += 2)
		assert_true(allocate(&t, 32) != 0);
	assert_int_equal(allocate(&t, 32), 0);
	heap_drop(&t);
}

TEST(runs_are_whole_chunks)
{
	struct test_heap t = heap_make(CHUNKS, 1, GMOD_HEAP_SLAB);
	uint64_t a, b, c;

	assert_int_equal(gmod_run_allocate(t.heap, (uint64_t)(CHUNKS + 1) * GMOD_CHUNK_SIZE), 0);
	assert_int_equal(gmod_run_allocate(t.heap, UINT64_MAX / 2), 0);
	a = gmod_run_allocate(t.heap, 100 * GMOD_CHUNK_SIZE - 5);
	b = gmod_run_allocate(t.heap, GMOD_BLOCK_MAX + 1);
	c = gmod_run_allocate(t.heap, 155 * GMOD_CHUNK_SIZE);
	assert_true(a && b && c);
	assert_int_equal(free_chunks(&t), 0);
	assert_int_equal(gmod_slab_place(t.heap, a).size, 100 * GMOD_CHUNK_SIZE);
	assert_int_equal(gmod_slab_place(t.heap, a + GMOD_CHUNK_SIZE).size, 0);
	assert_int_equal(gmod_run_allocate(t.heap, 1), 0);
	gmod_slab_release(t.heap, gmod_slab_place(t.heap, a));
	assert_int_equal(gmod_run_allocate(t.heap, 101 * GMOD_CHUNK_SIZE), 0);
	gmod_slab_release(t.heap, gmod_slab_place(t.heap, b));
	a = gmod_run_allocate(t.heap, 101 * GMOD_CHUNK_SIZE);
	assert_true(a != 0);
	gmod_slab_release(t.heap, gmod_slab_place(t.heap, a));
	gmod_slab_release(t.heap, gmod_slab_place(t.heap, c));
	assert_int_equal(free_chunks(&t), CHUNKS);
	heap_drop(&t);
}

enum { HELD = 64, ROUNDS = 40000 };

/* Each thread writes its own number all over what it holds, and looks whether it is still there. */
static void churn(struct test_thread *t)
{
	uint64_t held[HELD] = {0};
	uint32_t size[HELD] = {0};

	for (int i = 0; i < ROUNDS; i++) {
		uint32_t at = (uint32_t)random_below(&t->seed, HELD);

		if (held[at]) {
			for (uint32_t w = 0; w < size[at] / 8; w += 7)
				assert_true(((uint64_t *)held[at])[w] == t->number);
			gmod_slab_release(t->heap->heap, gmod_slab_place(t->heap->heap, held[at]));
			held[at] = 0;
			continue;
		}
		size[at] = 16 + (uint32_t)random_below(&t->seed, random_below(&t->seed, 8) ? 200 : 100000);
		held[at] = size[at] > GMOD_BLOCK_MAX ? gmod_run_allocate(t->heap->heap, size[at])
						     : allocate(t->heap, size[at]);
		for (uint32_t w = 0; held[at] && w < size[at] / 8; w += 7)
			((uint64_t *)held[at])[w] = t->number;
	}
	for (uint32_t i = 0; i < HELD; i++)
		if (held[i])
			gmod_slab_release(t->heap->heap, gmod_slab_place(t->heap->heap, held[i]));
}

/* Small heaps are exhausted time and again, so that chunks change their class under everybody's hands. */
TEST(threads_share_it)
{
	static const uint32_t chunks[] = {3, 16, 200};

	for (size_t i = 0; i < SIZE_OF(chunks); i++) {
		struct test_heap t = heap_make(chunks[i], 1, GMOD_HEAP_SLAB);

		run_threads(&t, 8, churn);
		/* A chunk that was wholly free while somebody gave back what they had taken by mistake stays listed. */
		for (uint32_t c = 0; c < chunks[i]; c++) {
			uint64_t control = t.heap->chunk[c].control;

			if (gmod_control_kind(control) == GMOD_CHUNK_SLAB)
				gmod_chunk_settle(t.heap, c, control, control);
		}
		assert_int_equal(free_chunks(&t), chunks[i]);
		for (uint32_t c = 0; c < chunks[i]; c++)
			assert_int_equal(gmod_control_free(t.heap->chunk[c].control), 0);
		heap_drop(&t);
	}
}

/* Blocks of the largest class, two to a chunk: everybody is after the last ones all the time, and keeps some. */
static uint64_t kept[8][4];

static void scramble(struct test_thread *t)
{
	uint64_t *held = kept[t->number];

	for (int i = 0; i < 3000; i++) {
		uint32_t at = (uint32_t)random_below(&t->seed, 4);

		if (held[at])
			gmod_slab_release(t->heap->heap, gmod_slab_place(t->heap->heap, held[at]));
		held[at] = held[at] ? 0 : allocate(t->heap, GMOD_BLOCK_MAX);
	}
}

TEST(what_is_free_can_be_found)
{
	for (int round = 0; round < 40; round++) {
		struct test_heap t = heap_make(8, 1, GMOD_HEAP_SLAB);

		memset(kept, 0, sizeof(kept));
		run_threads(&t, 8, scramble);
		for (uint32_t c = 0; c < 8; c++) {
			uint64_t control = t.heap->chunk[c].control;
			bool listed = t.heap->class_chunks[GMOD_CLASSES - 1].words[0] >> c & 1;

			assert_true(gmod_control_kind(control) == GMOD_CHUNK_FREE || gmod_control_free(control) <= 0 ||
				    listed);
		}
		heap_drop(&t);
	}
}
