/* mallocN and its kin on the CPU: with a heap of GMOD's and, as without libgmod, on top of the other one. */

#include "tests/unit/device_heap.h"

#include "include/gmod/device_calls.h"

static struct test_heap heap;

FIXTURE(slab)
{
	heap = heap_make(64, 4);
	return 0;
}

FIXTURE(drop)
{
	struct test_finding finding;

	guard_pass(&heap);
	assert_int_equal(take_findings(&heap, &finding, 1), 0);
	heap_drop(&heap);
	return 0;
}

#define ON_BOTH(test) \
	static void test(void **); \
	LIST_TEST(test##_plain, test, NULL, NULL, NULL); \
	TEST_FIXTURE(test, slab, drop)

static const size_t sizes[] = {0, 1, 7, 8, 15, 16, 17, 100, 1000, 40000, 100000};

ON_BOTH(sizes_are_known)
{
	for (size_t i = 0; i < SIZE_OF(sizes); i++) {
		char *p = mallocN(sizes[i]);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		memset(p, 1, sizes[i]);
		assert_int_equal(sizeN(p), sizes[i]);
		freeN(p);
	}
	assert_int_equal(sizeN(NULL), 0);
	freeN(NULL);
}

ON_BOTH(realloc_keeps_what_fits)
{
	unsigned char *p = NULL, *q;

	for (size_t i = 0; i < SIZE_OF(sizes) * SIZE_OF(sizes); i++) {
		size_t old = sizeN(p), new = sizes[i * 7 % SIZE_OF(sizes)], both = old < new ? old : new;

		q = reallocN(p, new);
		assert_non_null(q);
		assert_int_equal(sizeN(q), new);
		for (size_t k = 0; k < both; k++)
			assert_int_equal(q[k], (unsigned char)(i * 3 + k));
		for (size_t k = 0; k < new; k++)
			q[k] = (unsigned char)((i + 1) * 3 + k);
		p = q;
	}
	assert_null(reallocN(p, SIZE_MAX - 100));
	assert_int_equal(sizeN(p), sizes[(SIZE_OF(sizes) * SIZE_OF(sizes) - 1) * 7 % SIZE_OF(sizes)]);
	freeN(p);
}

ON_BOTH(calloc_gives_zeros)
{
	for (size_t i = 0; i < SIZE_OF(sizes); i++) {
		unsigned char *p = mallocN(sizes[i]);

		memset(p, 0xff, sizes[i]);
		freeN(p);
		p = callocN(sizes[i], 1);
		// NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it does not see what freeN has freed
		assert_non_null(p);
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(p[k], 0);
		freeN(p);
	}
	assert_null(callocN(SIZE_MAX / 2, 3));
	freeN(callocN(0, 5));
	freeN(callocN(5, 0));
}

ON_BOTH(what_is_impossible_is_said)
{
	static const size_t huge[] = {(size_t)1 << 48, (size_t)1 << 63, SIZE_MAX - 40, SIZE_MAX - 15, SIZE_MAX};

	for (size_t i = 0; i < SIZE_OF(huge); i++) {
		assert_null(mallocN(huge[i]));
		assert_int_equal(whyN(16, huge[i]), GMOD_IMPOSSIBLE);
		assert_null(aligned_allocN(huge[i], 1));
		assert_int_equal(whyN(huge[i], 1), GMOD_IMPOSSIBLE);
	}
	assert_null(aligned_allocN(24, 100));
	assert_int_equal(whyN(24, 100), GMOD_IMPOSSIBLE);
	assert_int_equal(whyN(1, 100), GMOD_NO_MEMORY);
}

TEST_FIXTURE(what_is_used_up_is_no_memory, slab, drop)
{
	char *chain = NULL, *p;

	while ((p = mallocN(100000))) {
		*(char **)p = chain;
		chain = p;
	}
	assert_int_equal(whyN(16, 100000), GMOD_NO_MEMORY);
	assert_int_equal(whyN(16, (size_t)65 << 16), GMOD_IMPOSSIBLE);
	for (; chain; chain = p) {
		p = *(char **)chain;
		freeN(chain);
	}
}

ON_BOTH(alignments_hold)
{
	for (size_t align = 1; align <= 4096; align *= 2)
		for (size_t i = 0; i < SIZE_OF(sizes); i++) {
			char *p = aligned_allocN(align, sizes[i]);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % (align < 16 ? 16 : align), 0);
			assert_int_equal(sizeN(p), sizes[i]);
			memset(p, 1, sizes[i]);
			freeN(p);
		}
}
