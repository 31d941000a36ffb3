/* Where the bytes of a buffer lie: the invariants of monitor/registry/layout.h, over many sizes, addresses and both
 * page sizes. */
#include "monitor/registry/layout.h"

#include "tests/unit/support.h"

static const size_t pages[] = {4096, 65536};

static bool same_layout(const struct gmod_layout *a, const struct gmod_layout *b)
{
	return a->total == b->total && a->zone_head == b->zone_head && a->body == b->body && a->user == b->user &&
	       a->zone_tail == b->zone_tail && a->end == b->end && a->base_alignment == b->base_alignment;
}

#define HOLDS(condition) CHECK(condition, "size %zu page %zu raw %#lx", size, page, raw)

/* What holds wherever the driver puts the block. */
static void check_place(const struct gmod_place *p, const struct gmod_layout *l, size_t size, size_t page,
			size_t alignment)
{
	uint64_t raw = p->raw;

	HOLDS(p->zone_head < p->body && p->body <= p->user);
	HOLDS(p->user_end == p->user + size && p->user_end <= p->zone_tail && p->zone_tail < p->end);
	HOLDS(p->zone_head >= p->raw && p->end <= p->raw + l->total && p->raw + l->total > p->raw);
	HOLDS(p->user % alignment == 0);
	HOLDS(p->zone_head % page == 0 && p->body % page == 0 && p->end % page == 0);
	HOLDS(p->body - p->zone_head == page);
}

static void check_device(size_t size, size_t page, uint64_t raw)
{
	struct gmod_layout l;
	struct gmod_place p;
	size_t rounded = (size + 511) / 512 * 512;

	HOLDS(gmod_layout_device(size, page, &l));
	gmod_layout_place(&l, size, raw, &p);
	check_place(&p, &l, size, page, 512);
	/* The zones can live on the host while the body lives on the device. */
	HOLDS(p.zone_tail % page == 0 && p.end - p.zone_tail == page);
	HOLDS(p.zone_tail - p.user_end < 512);
	/* Two pages, rounding, and room to find a boundary in: no more. */
	HOLDS(p.zone_tail - p.body < rounded + page);
	if (size >= GMOD_LARGE)
		HOLDS(p.body % GMOD_LARGE == 0);
	HOLDS(l.total < rounded + 3 * page + (size >= GMOD_LARGE ? 2 * GMOD_LARGE : page));
}

static void check_mapped(size_t size, size_t page, uint64_t raw)
{
	struct gmod_layout l;
	struct gmod_place p;

	HOLDS(gmod_layout_mapped(size, page, &l));
	gmod_layout_place(&l, size, raw, &p);
	check_place(&p, &l, size, page, 512);
	HOLDS(p.end - p.zone_tail == page && p.zone_tail - p.user_end < 512);
	/* Address space and device memory both come in multiples of 2 MiB, and no more of it than a native buffer
	 * takes. */
	HOLDS(p.raw == raw && l.total % GMOD_LARGE == 0 && p.body % GMOD_LARGE == 0 && p.zone_tail % GMOD_LARGE == 0);
	HOLDS(p.zone_tail - p.body == (size + GMOD_LARGE - 1) / GMOD_LARGE * GMOD_LARGE);
}

static void check_pinned(size_t size, size_t page, uint64_t raw)
{
	struct gmod_layout l;
	struct gmod_place p;

	HOLDS(gmod_layout_pinned(size, page, &l));
	gmod_layout_place(&l, size, raw, &p);
	check_place(&p, &l, size, page, page);
	HOLDS(p.user % page == 0);
	/* All of it is the CPU's: the zone begins at once behind the last byte, and is never short. */
	HOLDS(p.zone_tail == p.user_end);
	HOLDS(p.end - p.zone_tail >= GMOD_PINNED_REDZONE && p.end - p.zone_tail < GMOD_PINNED_REDZONE + page);
}

static void check(size_t size)
{
	static uint64_t seed = 1;

	for (int i = 0; i < 2; i++) {
		uint64_t anywhere = 0x7f0000000000 + random_below(&seed, (uint64_t)1 << 32);

		check_device(size, pages[i], 0x7f1200000000);
		check_device(size, pages[i], 0x7f1200000000 + pages[i]);
		check_device(size, pages[i], anywhere & ~(uint64_t)511);
		check_pinned(size, pages[i], anywhere & ~(uint64_t)65535);
		check_mapped(size, pages[i], anywhere & ~(uint64_t)(GMOD_LARGE - 1));
	}
}

TEST(small_sizes_keep_the_invariants)
{
	for (size_t size = 1; size <= 20000; size++)
		check(size);
}

TEST(sizes_around_boundaries_keep_the_invariants)
{
	for (int bit = 14; bit < 46; bit++)
		for (long off = -3; off <= 3; off++)
			check(((size_t)1 << bit) + (size_t)off);
	for (size_t pages_of = 1; pages_of < 1200; pages_of++)
		for (long off = -513; off <= 513; off += 57)
			check(pages_of * 4096 + (size_t)off);
	for (size_t large = 1; large < 64; large++)
		for (long off = -4097; off <= 4097; off += 241)
			check(large * GMOD_LARGE + (size_t)off);
}

TEST(sizes_of_any_kind_keep_the_invariants)
{
	uint64_t seed = 7;

	for (int i = 0; i < 50000; i++)
		check(1 + (size_t)(random64(&seed) >> (18 + random_below(&seed, 46))));
}

/* Natively a buffer of 2 MiB or more starts at a multiple of 2 MiB; what decides is the size, not the rounded size. */
TEST(large_buffers_lie_on_large_boundaries)
{
	struct gmod_layout l;

	for (int i = 0; i < 2; i++) {
		assert_true(gmod_layout_device(GMOD_LARGE - 1, pages[i], &l));
		assert_int_equal(l.base_alignment, pages[i]);
		assert_true(gmod_layout_device(GMOD_LARGE, pages[i], &l));
		assert_int_equal(l.base_alignment, GMOD_LARGE);
		assert_int_equal(l.user, GMOD_LARGE);
		assert_int_equal(l.zone_tail - l.user, GMOD_LARGE);
	}
}

TEST(nothing_is_laid_out_for_no_bytes)
{
	struct gmod_layout before, l;

	memset(&l, 0x5a, sizeof(l));
	before = l;
	for (int i = 0; i < 2; i++) {
		assert_false(gmod_layout_device(0, pages[i], &l));
		assert_false(gmod_layout_pinned(0, pages[i], &l));
		assert_false(gmod_layout_mapped(0, pages[i], &l));
		assert_true(same_layout(&l, &before));
	}
}

/* Either refused, with *out as it was, or a sum that did not wrap. */
static bool try_huge(bool (*lay_out)(size_t, size_t, struct gmod_layout *), size_t size, size_t page)
{
	struct gmod_layout before, l;

	memset(&l, 0x5a, sizeof(l));
	before = l;
	if (!lay_out(size, page, &l)) {
		CHECK(same_layout(&l, &before), "size %zx page %zu", size, page);
		return false;
	}
	CHECK(l.total > size && l.total >= l.end && l.end > l.zone_tail && l.zone_tail >= size && l.user >= l.body,
	      "size %zx page %zu", size, page);
	return true;
}

TEST(sizes_that_overflow_are_refused)
{
	bool (*const lay_out[])(size_t, size_t, struct gmod_layout *) = {gmod_layout_device, gmod_layout_pinned};

	for (int kind = 0; kind < 2; kind++)
		for (int i = 0; i < 2; i++) {
			size_t least = 3 * pages[i], most = least + (kind == 0 ? 4 * GMOD_LARGE : 0);
			bool fits = false;

			/* From the top down: refused, until at some point it fits, and from there on always. */
			for (size_t below = 0; below < most + 2 * pages[i]; below += 127) {
				bool now = try_huge(lay_out[kind], SIZE_MAX - below, pages[i]);

				CHECK(now || !fits, "below %zu page %zu", below, pages[i]);
				CHECK(now || below < most, "below %zu page %zu", below, pages[i]);
				CHECK(!now || below >= pages[i], "below %zu page %zu", below, pages[i]);
				fits = now;
			}
			assert_true(fits);
		}
}

static bool extent_by_hand(size_t width, size_t rows, size_t pitch, size_t slices, size_t slice_pitch, size_t *out)
{
	unsigned __int128 sum = 0, down, back;

	if (width && rows && slices) {
		down = (unsigned __int128)(rows - 1) * pitch;
		back = (unsigned __int128)(slices - 1) * slice_pitch;
		if (down > SIZE_MAX || back > SIZE_MAX)
			return false;
		sum = down + back + width;
	}
	*out = (size_t)sum;
	return sum <= SIZE_MAX;
}

static void check_extent(size_t width, size_t rows, size_t pitch, size_t slices, size_t slice_pitch)
{
	size_t got = 1, want = 0;
	bool ok = gmod_layout_extent(width, rows, pitch, slices, slice_pitch, &got);

	CHECK(ok == extent_by_hand(width, rows, pitch, slices, slice_pitch, &want),
	      "width %zx rows %zx pitch %zx slices %zx %zx", width, rows, pitch, slices, slice_pitch);
	CHECK(!ok || got == want, "width %zx rows %zx pitch %zx slices %zx %zx: %zx", width, rows, pitch, slices,
	      slice_pitch, got);
}

/* The driver's blocks of 2 MiB hold as many of a size as fit: a little more may be one less. */
TEST(a_redzone_costs_what_fits_less_into_a_block)
{
	static const struct {
		size_t size, tail, total, extra;
	} cases[] = {
	    {100, GMOD_REDZONE, 512, 0},
	    {512, GMOD_REDZONE, 1024, 512},
	    {698880, GMOD_REDZONE, 699392, (1 << 20) - (2 << 20) / 3},
	    {1 << 20, GMOD_REDZONE, (1 << 20) + 4096, 1 << 20},
	    {64 << 10, GMOD_REDZONE, 68 << 10, (2 << 20) / 30 - (64 << 10)},
	    {(64 << 10) - 512, GMOD_REDZONE, 64 << 10, (64 << 10) - (2 << 20) / 32},
	    {(2 << 20) - GMOD_REDZONE, GMOD_REDZONE, 2 << 20, 0},
	    {2 << 20, GMOD_REDZONE, 4 << 20, 2 << 20},
	    {12345, 3584, 16384, (2 << 20) / 128 - (2 << 20) / 163},
	    {256, 1024, 1536, (2 << 20) / 1365 - 512},
	};

	for (size_t i = 0; i < SIZE_OF(cases); i++) {
		size_t extra = 1, total = gmod_layout_redzone(cases[i].size, 0, cases[i].tail, &extra);

		CHECK(total == cases[i].total && extra == cases[i].extra, "%zu: %zu, %zu more", cases[i].size, total,
		      extra);
	}
	CHECK(!gmod_layout_redzone(0, 0, GMOD_REDZONE, &(size_t){0}) &&
		  !gmod_layout_redzone(SIZE_MAX, 0, GMOD_REDZONE, &(size_t){0}),
	      "none");
}

/* All of it lies in the block, aligned, and no farther from the side that nothing lies at than the alignment asks for.
 */
TEST(fenced_buffers_touch_one_end_of_their_block)
{
	static const size_t sizes[] = {1, 15, 16, 100, 4000, 4096, GMOD_LARGE - 1, GMOD_LARGE, 3 * GMOD_LARGE + 4};
	const uint64_t raw = UINT64_C(5) << 30;
	struct gmod_place p;

	for (size_t i = 0; i < SIZE_OF(sizes); i++)
		for (size_t alignment = 16; alignment <= GMOD_DEVICE_ALIGNMENT; alignment *= 2) {
			size_t block = gmod_layout_fenced_at(sizes[i], alignment, false, raw, &p);

			CHECK(block % GMOD_LARGE == 0 && block - sizes[i] < GMOD_LARGE, "%zu: %zu", sizes[i], block);
			CHECK(p.user % alignment == 0 && p.user >= raw && raw + block - (p.user + sizes[i]) < alignment,
			      "%zu at the end, %zu", sizes[i], alignment);
			assert_true(p.body == raw && p.zone_tail == raw + block && p.user_end == p.user + sizes[i]);
			assert_int_equal(gmod_layout_fenced_at(sizes[i], alignment, true, raw, &p), block);
			CHECK(p.user == raw && p.zone_tail >= raw + sizes[i] && p.zone_tail <= raw + block &&
				  p.zone_tail % GMOD_DEVICE_ALIGNMENT == 0,
			      "%zu at the start", sizes[i]);
		}
	assert_int_equal(gmod_layout_fenced_at(SIZE_MAX, 16, false, raw, &p), 0);
}

TEST(extents_reach_to_the_last_byte)
{
	static const size_t some[] = {0,
				      1,
				      2,
				      511,
				      512,
				      4096,
				      (size_t)1 << 31,
				      (size_t)1 << 32,
				      (size_t)1 << 63,
				      SIZE_MAX / 2,
				      SIZE_MAX - 1,
				      SIZE_MAX};
	enum { SOME = SIZE_OF(some) };
	size_t n = 0;

	assert_true(gmod_layout_extent(10, 3, 512, 1, 0, &n));
	assert_int_equal(n, 2 * 512 + 10);
	assert_true(gmod_layout_extent(10, 3, 512, 4, 8192, &n));
	assert_int_equal(n, 3 * 8192 + 2 * 512 + 10);
	for (int w = 0; w < SOME; w++)
		for (int r = 0; r < SOME; r++)
			for (int p = 0; p < SOME; p++)
				for (int s = 0; s < SOME; s++)
					for (int q = 0; q < SOME; q++)
						check_extent(some[w], some[r], some[p], some[s], some[q]);
}
