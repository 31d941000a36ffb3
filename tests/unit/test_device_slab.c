/* The slab allocator of the device heap: sizes, sets, blocks, runs, and that everything comes back. */
#include "tests/unit/device_heap.h"

enum { CHUNKS = 256, AROUND = GMOD_HEAD_SIZE + GMOD_TAIL_MIN };

TEST(every_size_fits_its_class)
{
	uint32_t before = 0;

	for (uint32_t size = 1; size <= GMOD_BLOCK_MAX; size++) {
		uint32_t class_ = gmod_class_of(size);

		assert_true(class_ < GMOD_CLASSES);
		assert_true(gmod_class_shape(class_).size >= size);
		assert_true(class_ == 0 || gmod_class_shape(class_ - 1).size < size);
		assert_true(class_ >= before);
		before = class_;
	}
	assert_int_equal(gmod_class_shape(GMOD_CLASSES - 1).size, GMOD_BLOCK_MAX);
	assert_int_equal(gmod_class_shape(GMOD_CLASSES - 1).blocks, 2);
	assert_int_equal(gmod_class_shape(GMOD_CLASS_RUN).blocks, 1);
	for (uint32_t c = 0; c < GMOD_CLASSES; c++) {
		struct gmod_shape s = gmod_class_shape(c);

		assert_int_equal(s.size % 16, 0);
		assert_true(s.blocks * (s.size + GMOD_ENTRY_SIZE) <= GMOD_CHUNK_SIZE);
		assert_true((s.blocks + 1) * (s.size + GMOD_ENTRY_SIZE) > GMOD_CHUNK_SIZE);
	}
}

TEST(sets_find_what_is_in_them)
{
	struct test_heap t = heap_make(20000, 1);

	for (uint32_t i = 0; i < 20000; i++)
		assert_true(gmod_set_take(GMOD_SET_FREE, i));
	assert_int_equal(gmod_set_find(GMOD_SET_FREE, 0), GMOD_SET_NONE);
	assert_int_equal(gmod_set_find_all(GMOD_SET_FREE), GMOD_SET_NONE);
	for (uint32_t i = 0; i < 20000; i += 4999)
		for (uint32_t start = 0; start < 20000; start += 777) {
			gmod_set_add(GMOD_SET_FREE, i);
			assert_int_equal(gmod_set_find(GMOD_SET_FREE, start), i);
			assert_int_equal(gmod_set_find_all(GMOD_SET_FREE), i);
			assert_true(gmod_set_take(GMOD_SET_FREE, i));
			assert_false(gmod_set_take(GMOD_SET_FREE, i));
		}
	gmod_set_add(GMOD_SET_FREE, 100);
	gmod_set_add(GMOD_SET_FREE, 120);
	assert_int_equal(gmod_set_find(GMOD_SET_FREE, 101), 120);
	heap_drop(&t);
}

/* A buffer that takes all of a block of that many bytes; NULL where there is none. */
static void *allocate(uint64_t block)
{
	return gmod_heap_malloc(block - AROUND, 16);
}

/* Who was slow to mark a word may mark it when it is empty again. */
TEST(marks_of_empty_words_hide_nothing)
{
	struct test_heap t = heap_make(96, 1);

	gmod_set_add(0, 70);
	*gmod_set_marks(0) |= 3;
	assert_int_equal(gmod_set_find(0, 0), 70);
	heap_drop(&t);
}

TEST(blocks_are_apart_and_come_back)
{
	struct test_heap t = heap_make(CHUNKS, 1);
	static char *p[CHUNKS * 1366 + 1];

	for (uint32_t class_ = 0; class_ < GMOD_CLASSES; class_++) {
		uint32_t size = gmod_class_size(class_) - AROUND, n = 0, most = CHUNKS * gmod_class_blocks(class_);

		while ((p[n] = allocate(gmod_class_size(class_)))) {
			assert_true(n < most);
			assert_true((uint64_t)p[n] >= gmod_unit_heap.base + GMOD_HEAD_SIZE);
			assert_true((uint64_t)p[n] + size + GMOD_TAIL_MIN <=
				    gmod_unit_heap.base + ((uint64_t)CHUNKS << GMOD_CHUNK_BITS));
			/* each is written all over, and keeps what was written */
			memset(p[n], (int)n, size);
			n++;
		}
		assert_int_equal(n, most);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(size == 0 || (p[i][0] == (char)i && p[i][size - 1] == (char)i));
			assert_int_equal(gmod_heap_size_of(p[i]), size);
			gmod_heap_free(p[i]);
			assert_int_equal(gmod_heap_size_of(p[i]), 0);
		}
		assert_int_equal(free_chunks(), CHUNKS);
	}
	assert_int_equal(t.state->findings, 0);
	heap_drop(&t);
}

TEST(holes_are_used_again)
{
	struct test_heap t = heap_make(4, 1);
	static void *p[4 * 1366 + 1];
	uint32_t n = 0;

	while ((p[n] = allocate(32)))
		n++;
	for (uint32_t i = 0; i < n; i += 2)
		gmod_heap_free(p[i]);
	for (uint32_t i = 0; i < n; i += 2)
		assert_non_null(allocate(32));
	assert_null(allocate(32));
	heap_drop(&t);
}

TEST(runs_are_whole_chunks)
{
	struct test_heap t = heap_make(CHUNKS, 1);
	char *a, *b, *c;

	assert_null(gmod_heap_malloc((uint64_t)(CHUNKS + 1) * GMOD_CHUNK_SIZE, 16));
	assert_null(gmod_heap_malloc(UINT64_MAX / 2, 16));
	a = allocate(100 * GMOD_CHUNK_SIZE - GMOD_ENTRY_SIZE);
	b = allocate(GMOD_BLOCK_MAX + 1);
	c = allocate(155 * GMOD_CHUNK_SIZE - GMOD_ENTRY_SIZE);
	assert_true(a && b && c);
	assert_int_equal(free_chunks(), 0);
	assert_null(allocate(100));
	gmod_heap_free(a);
	assert_null(allocate(101 * GMOD_CHUNK_SIZE - GMOD_ENTRY_SIZE));
	gmod_heap_free(b);
	a = allocate(101 * GMOD_CHUNK_SIZE - GMOD_ENTRY_SIZE);
	assert_non_null(a);
	gmod_heap_free(a);
	gmod_heap_free(c);
	assert_int_equal(free_chunks(), CHUNKS);
	/* one byte more is a chunk more */
	a = allocate(100 * GMOD_CHUNK_SIZE - GMOD_ENTRY_SIZE + 1);
	assert_int_equal(free_chunks(), CHUNKS - 101);
	gmod_heap_free(a);
	assert_int_equal(free_chunks(), CHUNKS);
	heap_drop(&t);
}

/* A run takes what its size and its alignment need, and gives back as much. */
TEST(aligned_runs_come_back)
{
	struct test_heap t = heap_make(16, 1);

	for (uint64_t align = 16; align <= GMOD_ALIGN_MAX; align *= 2)
		for (uint64_t size = 20000; size < 200000; size += 1237) {
			char *p = gmod_heap_malloc(size, align);

			assert_non_null(p);
			assert_int_equal((uint64_t)p % align, 0);
			p[0] = p[size - 1] = 1;
			gmod_heap_free(p);
			CHECK(free_chunks() == 16, "size %llu, align %llu", (unsigned long long)size,
			      (unsigned long long)align);
		}
	assert_null(gmod_heap_malloc(100, 2 * GMOD_ALIGN_MAX));
	assert_int_equal(t.state->findings, 0);
	heap_drop(&t);
}

/* Others are faster in chunk after chunk: the next block comes from a new one. */
TEST(crumbs_are_left_to_others)
{
	enum { SIZE = 1000, LISTED = 20 };
	struct test_heap t = heap_make(64, 1);
	uint32_t class_ = gmod_class_of(SIZE), tried = 0;

	for (uint32_t c = 0; c < LISTED; c++) {
		assert_true(gmod_set_take(GMOD_SET_FREE, c));
		*gmod_control_of(c) = gmod_control_turned(UINT64_C(1) << 32, GMOD_CHUNK_SLAB, class_);
		gmod_set_add(class_, c);
	}
	assert_non_null(allocate(SIZE));
	for (uint32_t c = 0; c < LISTED; c++)
		tried += gmod_control_free(*gmod_control_of(c)) != 1;
	assert_in_range(tried, 1, GMOD_CRUMBS);
	heap_drop(&t);
}

enum { HELD = 64 };

/* Each thread writes its own number all over what it holds, and looks whether it is still there. */
static void churn(struct test_thread *t)
{
	uint8_t *held[HELD] = {0};
	uint32_t size[HELD] = {0};

	for (int i = 0, n = turns(10000); i < n; i++) {
		uint32_t at = (uint32_t)random_below(&t->seed, HELD);

		if (held[at]) {
			for (uint32_t k = 0; k < size[at]; k += 57)
				assert_true(held[at][k] == t->number);
			gmod_heap_free(held[at]);
			held[at] = NULL;
			continue;
		}
		size[at] = (uint32_t)random_below(&t->seed, random_below(&t->seed, 8) ? 200 : 100000);
		held[at] = gmod_heap_malloc(size[at], 16u << random_below(&t->seed, 3));
		if (held[at])
			memset(held[at], (int)t->number, size[at]);
	}
	for (uint32_t i = 0; i < HELD; i++)
		if (held[i])
			gmod_heap_free(held[i]);
}

/* Small heaps are exhausted time and again, so that chunks change their class under everybody's hands. */
TEST(threads_share_it)
{
	static const uint32_t chunks[] = {3, 16, 200};

	for (size_t i = 0; i < SIZE_OF(chunks); i++) {
		struct test_heap t = heap_make(chunks[i], 1);

		run_threads(&t, 8, churn);
		/* A chunk that was wholly free while somebody gave back what they had taken by mistake stays listed. */
		for (uint32_t c = 0; c < chunks[i]; c++) {
			uint64_t control = *gmod_control_of(c);

			if (gmod_control_kind(control) == GMOD_CHUNK_SLAB)
				gmod_chunk_settle(c, control, false);
		}
		assert_int_equal(free_chunks(), chunks[i]);
		for (uint32_t c = 0; c < chunks[i]; c++)
			assert_int_equal(gmod_control_free(*gmod_control_of(c)), 0);
		assert_int_equal(t.state->used, 0);
		assert_int_equal(t.state->findings + t.state->damaged, 0);
		heap_drop(&t);
	}
}

/* Blocks of the largest class, two to a chunk: everybody is after the last ones all the time, and keeps some. */
static void *kept[8][4];

static void scramble(struct test_thread *t)
{
	void **held = kept[t->number];

	for (int i = 0, n = turns(3000); i < n; i++) {
		uint32_t at = (uint32_t)random_below(&t->seed, 4);

		if (held[at])
			gmod_heap_free(held[at]);
		held[at] = held[at] ? NULL : allocate(GMOD_BLOCK_MAX);
	}
}

TEST(what_is_free_can_be_found)
{
	for (int round = 0; round < 12; round++) {
		struct test_heap t = heap_make(8, 1);

		memset(kept, 0, sizeof(kept));
		run_threads(&t, 8, scramble);
		for (uint32_t c = 0; c < 8; c++) {
			uint64_t control = *gmod_control_of(c);
			bool listed = gmod_set_words(GMOD_CLASSES - 1)[0] >> c & 1;

			assert_true(gmod_control_kind(control) <= GMOD_CHUNK_FREE || gmod_control_free(control) <= 0 ||
				    listed);
		}
		heap_drop(&t);
	}
}
