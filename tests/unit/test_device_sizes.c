/* How much of the device heap's memory the program gets, by size: no less than device/README.md says. */
#include "include/gmod/device_buffer.h"
#include "test.h"

struct gmod_device_heap gmod_unit_heap;

/* Sizes, and the percentage of the memory that is the program's when the heap is full of such buffers. */
static const struct share {
	gmod_u64 size;
	unsigned percent;
	const char *name;
} shares[] = {
    {8, 17, "8"},           {16, 25, "16"},          {32, 40, "32"},
    {64, 57, "64"},         {100, 69, "100"},        {128, 73, "128"},
    {256, 76, "256"},       {512, 77, "512"},        {1000, 96, "1000"},
    {1024, 78, "1 KiB"},    {4096, 75, "4 KiB"},     {16384, 75, "16 KiB"},
    {28648, 87, "28 648"},  {32768, 50, "32 KiB"},   {65000, 99, "65 000"},
    {65536, 50, "64 KiB"},  {262144, 80, "256 KiB"}, {1048576, 94, "1 MiB"},
    {4194304, 98, "4 MiB"},
};

static gmod_u64 rounded(gmod_u64 part, gmod_u64 whole)
{
	return (part + whole / 2) / whole;
}

static gmod_u64 percent(gmod_u64 size)
{
	gmod_u64 needs = gmod_buffer_needs(size, 16);
	struct gmod_shape shape;

	if (needs > GMOD_BLOCK_MAX)
		return rounded(size * 100, (gmod_u64)gmod_run_chunks(needs) * GMOD_CHUNK_SIZE);
	shape = gmod_class_shape(gmod_class_of((gmod_u32)needs));
	assert_true(shape.size >= needs);
	return rounded(size * shape.blocks * 100, GMOD_CHUNK_SIZE);
}

TEST(shares_are_as_they_were)
{
	for (unsigned i = 0; i < SIZE_OF(shares); i++)
		assert_int_equal(percent(shares[i].size), shares[i].percent);
}

TEST(no_size_has_much_less)
{
	for (gmod_u64 size = 64; size <= GMOD_BLOCK_MAX - GMOD_HEAD_SIZE - GMOD_TAIL_MIN; size++)
		assert_true(percent(size) > 56);
	for (gmod_u64 size = GMOD_BLOCK_MAX; size < 1 << 20; size++)
		assert_true(percent(size) > 43);
}

TEST(the_page_says_so)
{
	static char page[65536];
	char row[64];
	FILE *file = fopen("device/README.md", "r");

	assert_non_null(file);
	assert_true(fread(page, 1, sizeof(page) - 1, file) > 0);
	fclose(file);
	for (unsigned i = 0; i < SIZE_OF(shares); i++) {
		snprintf(row, sizeof(row), "\n| %s | %u %% |\n", shares[i].name, shares[i].percent);
		assert_non_null(strstr(page, row));
	}
}
