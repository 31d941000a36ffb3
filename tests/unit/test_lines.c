/* Line tables of each version, made by hand. Those that nvcc makes are in the dumps of test_dump.c. */
#include "lib/faults/lines.h"
#include "tests/unit/support.h"

enum { START = 0x7f0000001000, STEP = 0x10 };

struct table {
	unsigned char bytes[2048];
	size_t size, unit, header; /* where the unit begins, and its header's length stands */
};

static const char strings[] = "\0inner\0outer";
enum { INNER = 1, OUTER = 7 };

static void put(struct table *t, uint64_t value, unsigned bytes)
{
	assert_true(t->size + bytes <= sizeof(t->bytes));
	memcpy(t->bytes + t->size, &value, bytes);
	t->size += bytes;
}

static void put_leb(struct table *t, uint64_t value)
{
	for (; value > 127; value >>= 7)
		put(t, value | 128, 1);
	put(t, value, 1);
}

static void put_text(struct table *t, const char *text)
{
	while (*text)
		put(t, (unsigned char)*text++, 1);
	put(t, 0, 1);
}

static void put_files(struct table *t)
{
	put_text(t, "/src");
	put_text(t, "below");
	put(t, 0, 1);
	put_text(t, "a.cu");
	put(t, 1, 3);
	put_text(t, "b.cu");
	put(t, 2, 3);
	put_text(t, "/c.cu");
	put(t, 1, 3);
	put(t, 0, 1);
}

static void begin_unit(struct table *t, unsigned version)
{
	static const unsigned char operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

	t->unit = t->size;
	put(t, 0, 4);
	put(t, version, 2);
	t->header = t->size;
	put(t, 0, 4);
	put(t, 0x0101, version >= 4 ? 2 : 1); /* bytes of a step, steps at once */
	put(t, 0x0d0afb01, 4);                /* is a statement, line base -5, line range 10, opcode base 13 */
	for (size_t i = 0; i < sizeof(operands); i++)
		put(t, operands[i], 1);
	put_files(t);
	memcpy(t->bytes + t->header, &(uint64_t){t->size - t->header - 4}, 4);
}

static void end_unit(struct table *t)
{
	memcpy(t->bytes + t->unit, &(uint64_t){t->size - t->unit - 4}, 4);
}

static void set_address(struct table *t, uint64_t address)
{
	put(t, 0x020900, 3);
	put(t, address, 8);
}

/* What follows was inlined at a row of this sequence. */
static void inlined_at(struct table *t, unsigned row, unsigned function)
{
	put(t, 0, 1);
	put(t, 3, 1);
	put(t, 0x90, 1);
	put_leb(t, row);
	put_leb(t, function);
}

/* STEP bytes further on, a row for a line that is so many further. */
static void put_row(struct table *t, unsigned file, int lines)
{
	put(t, 4, 1);
	put_leb(t, file);
	put(t, 3, 1);
	put(t, (uint64_t)lines & 127, 1);
	put(t, 2, 1);
	put(t, STEP, 1);
	put(t, 1, 1);
}

static void end_sequence(struct table *t)
{
	put(t, 2, 1);
	put(t, STEP, 1);
	put(t, 0x010100, 3);
}

/* Rows 1 to 3 at START + STEP and on: line 11 of a.cu, line 21 inlined there, line 26 inlined in that. */
static void put_sequence(struct table *t, uint64_t start)
{
	set_address(t, start);
	put_row(t, 1, 10);
	inlined_at(t, 1, OUTER);
	put_row(t, 2, 10);
	inlined_at(t, 2, INNER);
	put_row(t, 3, 5);
	end_sequence(t);
}

static unsigned lines_at(const struct table *t, size_t size, uint64_t pc, struct gmod_fault_line at[GMOD_FAULT_INLINED])
{
	return gmod_lines_at((struct gmod_bytes){t->bytes, size},
			     (struct gmod_bytes){(const unsigned char *)strings, sizeof(strings)}, pc, at);
}

static void check_line(const struct gmod_fault_line *l, unsigned line, const char *directory, const char *file,
		       const char *function)
{
	CHECK(l->line == line && !strcmp(l->file, file), "%s:%u", l->file, l->line);
	CHECK(directory ? l->directory && !strcmp(l->directory, directory) : !l->directory, "%s", l->directory);
	CHECK(function ? l->function && !strcmp(l->function, function) : !l->function, "%s", l->function);
}

static void check_version(unsigned version)
{
	struct table t = {0};
	struct gmod_fault_line at[GMOD_FAULT_INLINED];

	begin_unit(&t, version);
	put_sequence(&t, 0);
	put_sequence(&t, START);
	end_unit(&t);
	assert_int_equal(lines_at(&t, t.size, START + STEP - 1, at), 0);
	assert_int_equal(lines_at(&t, t.size, START + 4 * STEP, at), 0);
	assert_int_equal(lines_at(&t, t.size, START + STEP, at), 1);
	check_line(&at[0], 11, "/src", "a.cu", NULL);
	assert_int_equal(lines_at(&t, t.size, START + 4 * STEP - 1, at), 3);
	check_line(&at[0], 26, NULL, "/c.cu", "inner");
	check_line(&at[1], 21, "below", "b.cu", "outer");
	check_line(&at[2], 11, "/src", "a.cu", NULL);
}

TEST(each_version_is_read)
{
	for (unsigned version = 2; version <= 4; version++)
		check_version(version);
}

/* Rows of special opcodes, the opcode that advances as the last of these does, and a fixed advance. */
TEST(each_opcode_is_run)
{
	static const unsigned char program[] = {13 + 5 + 3 + 10 * 2, 8, 9, 0x34, 0x12, 5, 7, 6, 10, 13 + 5 + 10};
	struct gmod_fault_line at[GMOD_FAULT_INLINED];
	struct table t = {0};

	begin_unit(&t, 2);
	set_address(&t, START);
	for (size_t i = 0; i < sizeof(program); i++)
		put(&t, program[i], 1);
	end_sequence(&t);
	end_unit(&t);
	assert_int_equal(lines_at(&t, t.size, START + 2 + (255 - 13) / 10 + 0x1234, at), 1);
	check_line(&at[0], 4, "/src", "a.cu", NULL);
	assert_int_equal(lines_at(&t, t.size, START + 2, at), 1);
	assert_int_equal(lines_at(&t, t.size, START + 1, at), 0);
}

TEST(no_more_levels_than_there_is_room_for)
{
	struct gmod_fault_line at[GMOD_FAULT_INLINED];
	struct table t = {0};

	begin_unit(&t, 2);
	set_address(&t, START);
	put_row(&t, 1, 10);
	for (unsigned row = 1; row < 8; row++) {
		inlined_at(&t, row, OUTER);
		put_row(&t, 1, 1);
	}
	inlined_at(&t, 9, OUTER); /* in itself */
	put_row(&t, 1, 1);
	inlined_at(&t, 100, OUTER); /* in none */
	put_row(&t, 1, 1);
	end_sequence(&t);
	end_unit(&t);
	assert_int_equal(lines_at(&t, t.size, START + 4 * STEP, at), 4);
	assert_int_equal(lines_at(&t, t.size, START + 8 * STEP, at), GMOD_FAULT_INLINED);
	check_line(&at[3], 15, "/src", "a.cu", "outer");
	assert_int_equal(lines_at(&t, t.size, START + 9 * STEP, at), GMOD_FAULT_INLINED);
	assert_int_equal(lines_at(&t, t.size, START + 10 * STEP, at), 1);
}

TEST(a_unit_of_another_version_is_passed_over)
{
	struct gmod_fault_line at[GMOD_FAULT_INLINED];
	struct table t = {0};

	begin_unit(&t, 5);
	put_sequence(&t, START);
	end_unit(&t);
	begin_unit(&t, 4);
	put_sequence(&t, 2 * (uint64_t)START);
	end_unit(&t);
	assert_int_equal(lines_at(&t, t.size, START + STEP, at), 0);
	assert_int_equal(lines_at(&t, t.size, 2 * (uint64_t)START + STEP, at), 1);
}

/* Cut short, or with one byte that is another: names still end inside. */
TEST(a_damaged_table_does_no_harm)
{
	struct gmod_fault_line at[GMOD_FAULT_INLINED];

	for (unsigned version = 2; version <= 4; version++) {
		struct table t = {0}, *cut;

		begin_unit(&t, version);
		put_sequence(&t, START);
		end_unit(&t);
		cut = malloc(sizeof(t));
		for (size_t i = 0; i < t.size; i++)
			for (unsigned value = 0; value < 256; value++) {
				unsigned n;

				*cut = t;
				cut->bytes[i] = (unsigned char)value;
				n = lines_at(cut, t.size, START + 3 * STEP, at);
				NEED(n <= GMOD_FAULT_INLINED);
				while (n--)
					NEED(!at[n].file || strlen(at[n].file) < sizeof(t.bytes));
			}
		free(cut);
		for (size_t size = 0; size < t.size; size++) {
			unsigned char *bytes = memcpy(malloc(size + !size), t.bytes, size);
			struct gmod_bytes lines = {bytes, size}, strings = {NULL, 0};

			assert_int_equal(gmod_lines_at(lines, strings, START + 3 * STEP, at), 0);
			free(bytes);
		}
	}
}
