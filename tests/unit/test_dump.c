/*
 * Dumps that the driver of an H200 wrote of each kernel in tests/gpu/faults/places.cu, and of some in kernels.cu beside
 * it. trim.py there packed them, and make unpacks them. What is expected is what that source marks: the line and the
 * bytes of each fault. GMOD_FUZZ_ROUNDS says how many damaged dumps are read (default: 10 000, some seconds).
 */
#include <elf.h>

#include "tests/unit/fault_dumps.h"
#include "tests/unit/fault_reading.h"

enum { REGISTERS = 0x80000005, IMAGE = 0x80000007, GRIDS = 0x8000000c, BLOCKS, WARPS, LANES };
enum { KIND_OF_LANE = 32, PC_OF_WARP = 0, HAS_PC_OF_WARP = 24 };

/* ---- dumps ---- */

static struct gmod_fault read_fault(struct dump d)
{
	struct gmod_fault f;
	const char *wrong = gmod_dump_read(d.bytes, d.size, &f);

	CHECK(!wrong, "%s", wrong);
	return f;
}

static Elf64_Ehdr head_of(struct dump d)
{
	Elf64_Ehdr head;

	memcpy(&head, d.bytes, sizeof(head));
	return head;
}

static Elf64_Shdr section(struct dump d, unsigned index)
{
	Elf64_Shdr s;

	memcpy(&s, d.bytes + head_of(d).e_shoff + index * sizeof(s), sizeof(s));
	return s;
}

/* The nth section of a type. */
static Elf64_Shdr nth(struct dump d, uint32_t type, unsigned n)
{
	for (unsigned i = 0; i < head_of(d).e_shnum; i++)
		if (section(d, i).sh_type == type && !n--)
			return section(d, i);
	fail();
	return (Elf64_Shdr){0};
}

static unsigned count_of(struct dump d, uint32_t type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < head_of(d).e_shnum; i++)
		n += section(d, i).sh_type == type;
	return n;
}

/* Clears a word of each row. */
static void clear(struct dump d, Elf64_Shdr table, unsigned at)
{
	for (uint64_t row = 0; row < table.sh_size; row += table.sh_entsize)
		memset(d.bytes + table.sh_offset + row + at, 0, 4);
}

/* The image that has the kernels; the others are zeros. */
static Elf64_Shdr own_image(struct dump d)
{
	for (unsigned n = 0;; n++)
		if (d.bytes[nth(d, IMAGE, n).sh_offset])
			return nth(d, IMAGE, n);
}

/* ---- what each has to say ---- */

static bool one_of(const char *name, const char *names)
{
	const char *at = strstr(names, name);

	return at && (at == names || at[-1] == ' ') && strchr(" ", at[strlen(name)]);
}

static void check_grid(const char *name, const struct gmod_fault *f)
{
	static const uint32_t grid[3] = {4, 2, 1}, block[3] = {32, 2, 1};
	bool has_left = one_of(name, "store store_before add");

	CHECK(f->has_grid == !has_left && (f->warps == 0) == has_left && (f->lane_count == 0) == has_left, "%s", name);
	if (has_left)
		return;
	CHECK(!memcmp(f->grid, grid, sizeof(grid)) && !memcmp(f->block_size, block, sizeof(block)), "%s", name);
	CHECK(f->launched_tid && f->parameters.size == (strcmp(name, "load_readonly") ? 12 : 20), "%s: %zu bytes", name,
	      f->parameters.size);
	CHECK(f->lane_count == (strcmp(name, "trap") ? 32 : 1), "%s: %u lanes", name, f->lane_count);
	for (unsigned i = 0; i < f->lane_count; i++)
		CHECK(f->lane_count == 1 || (f->lane[i].thread[0] == i && f->lane[i].thread[1] == f->lane[0].thread[1]),
		      "%s", name);
}

static void check_operand(const char *name, const struct gmod_fault *f, unsigned bytes)
{
	bool is_store = one_of(name, "store store_wide store_before store_stay misaligned");
	enum gmod_access access = one_of(name, "add add_answer exchange") ? GMOD_ACCESS_ATOMIC
				  : is_store                              ? GMOD_ACCESS_STORE
									  : GMOD_ACCESS_LOAD;
	enum gmod_space space = one_of(name, "load_generic load_null") ? GMOD_SPACE_GENERIC
				: strcmp(name, "shared_range")         ? GMOD_SPACE_GLOBAL
								       : GMOD_SPACE_SHARED;

	CHECK(f->has_instruction && f->has_operand == (bytes != 0), "%s", name);
	if (bytes)
		CHECK(f->operand.bytes == bytes && f->operand.access == access && f->operand.space == space,
		      "%s: %u bytes", name, f->operand.bytes);
}

/* Of what the toolkit's headers define the line of places.cu is one further. */
static void check_lines(const char *name, const struct gmod_fault *f, unsigned line)
{
	unsigned n = one_of(name, "load_readonly add add_answer exchange");
	const struct gmod_fault_line *l = &f->at[n];

	CHECK(f->lines == n + 1 + !strcmp(name, "inline_load"), "%s: %u lines", name, f->lines);
	CHECK(l->line == line && !strcmp(l->file, "places.cu"), "%s: %s:%u", name, l->file, l->line);
	CHECK(!strcmp(l->directory, "/home/gmod/tests/gpu/faults"), "%s: %s", name, l->directory);
	CHECK(!n || (f->at[0].function && strstr(f->at[0].directory, "/include")), "%s", name);
}

static const struct kind {
	const char *name;
	enum gmod_fault_kind kind;
	unsigned driver;
} usual = {"", GMOD_FAULT_ILLEGAL_ADDRESS, 14}, others[] = {{"misaligned", GMOD_FAULT_MISALIGNED, 6},
							    {"shared_range", GMOD_FAULT_INSTRUCTION, 4},
							    {"load_far", GMOD_FAULT_ADDRESS_SPACE, 7},
							    {"trap", GMOD_FAULT_TRAP, 0}};

static void check_fault(const char *name, unsigned line, unsigned bytes)
{
	struct dump d = read_dump(name);
	struct gmod_fault f = read_fault(d);
	const struct kind *kind = &usual;

	for (size_t i = 0; i < SIZE_OF(others); i++)
		kind = strcmp(name, others[i].name) ? kind : &others[i];
	CHECK(f.kind == kind->kind && f.driver_kind == kind->driver, "%s: kind %u", name, f.driver_kind);
	CHECK(f.places == (strcmp(name, "load_far") ? 1 : 2), "%s: %u places", name, f.places);
	CHECK(f.capability == 90 && f.has_pc, "%s", name);
	CHECK(!strcmp(f.kernel, strcmp(name, "scaled") ? name : "_Z6scaledIfLi4EEvPT_i"), "%s: %s", name, f.kernel);
	CHECK(!f.function == !!strcmp(name, "called_load"), "%s: %s", name, f.function);
	check_lines(name, &f, line);
	check_operand(name, &f, bytes);
	check_grid(name, &f);
	free(d.bytes);
}

TEST(each_place_is_named_as_its_source_marks_it)
{
	struct dump source = read_file("places.cu");
	char *text = strndup((char *)source.bytes, source.size), *rest = text, *one;
	unsigned line = 0, faults = 0;

	while ((one = strsep(&rest, "\n"))) {
		char name[32];
		unsigned bytes;
		const char *mark = strstr(one, "; // fault: ");

		line++;
		if (mark && sscanf(mark, "; // fault: %31s %u", name, &bytes) == 2) { // NOLINT: the tree's own text
			check_fault(name, line, bytes);
			faults++;
		}
	}
	assert_int_equal(faults, 24);
	free(text);
	free(source.bytes);
}

TEST(a_line_that_was_inlined_names_the_function_and_the_call)
{
	struct dump d = read_dump("inline_load");
	struct gmod_fault f = read_fault(d);

	assert_int_equal(f.lines, 2);
	assert_non_null(strstr(f.at[0].function, "7inlinedEPKfi"));
	assert_int_equal(f.at[1].line, 82);
	assert_null(f.at[1].function);
	free(d.bytes);
}

TEST(a_function_inside_of_a_kernel_is_named)
{
	struct dump d = read_dump("called_load");
	struct gmod_fault f = read_fault(d);

	assert_int_equal(strncmp(f.function, "_ZN", 3), 0);
	assert_non_null(strstr(f.function, "6calledEPKfi"));
	assert_int_equal(f.offset, 0x20);
	free(d.bytes);
}

/* Each thread stores 16 bytes, from 4 * n bytes before the end on. */
TEST(each_lane_has_its_own_registers)
{
	struct dump d = read_dump("store_wide");
	struct gmod_fault f;
	uint64_t past, thread;
	uint32_t n;

	addresses_asked = 0;
	f = read_fault(d);
	assert_int_equal(addresses_asked, 32);
	memcpy(&past, f.parameters.at, sizeof(past));
	memcpy(&n, f.parameters.at + sizeof(past), sizeof(n));
	for (unsigned i = 0; i < 32; i++) {
		thread = (f.block[1] * f.grid[0] + f.block[0]) * 64 + f.lane[i].thread[1] * 32 + i;
		CHECK(f.lane[i].has_address && f.lane[i].address == past - UINT64_C(4) * n + 16 * thread,
		      "lane %u: %#lx", i, f.lane[i].address);
	}
	free(d.bytes);
}

TEST(shared_memory_has_no_address_to_look_for)
{
	struct dump d = read_dump("shared_range");

	addresses_asked = 0;
	(void)read_fault(d);
	assert_int_equal(addresses_asked, 0);
	free(d.bytes);
}

TEST(the_thread_that_trapped_is_named)
{
	struct dump d = read_dump("trap");
	struct gmod_fault f = read_fault(d);

	assert_int_equal(f.block[0], 1);
	assert_int_equal(f.lane[0].thread[0], 6);
	assert_int_equal(f.lane[0].thread[1], 0);
	free(d.bytes);
}

/* Every third warp is said to be elsewhere. */
TEST(the_place_of_most_warps_comes_first)
{
	struct dump d = read_dump("load_null");
	unsigned faults = 0, moved = 0;
	struct gmod_fault f;

	for (unsigned n = 0; n < count_of(d, WARPS); n++) {
		Elf64_Shdr warps = nth(d, WARPS, n);

		for (uint64_t row = 0; row < warps.sh_size; row += warps.sh_entsize) {
			unsigned char *warp = d.bytes + warps.sh_offset + row;

			if (!warp[HAS_PC_OF_WARP] || faults++ % 3)
				continue;
			warp[PC_OF_WARP] = 0x10;
			moved++;
		}
	}
	f = read_fault(d);
	assert_int_equal(faults, 8);
	assert_int_equal(f.places, 2);
	assert_int_equal(f.warps, faults - moved);
	assert_int_equal(f.offset, 0x150);
	free(d.bytes);
}

/* What its warps say is taken from a dump that has a fault of one. */
TEST(a_warp_that_did_nothing_is_not_named)
{
	struct dump d = read_dump("store_stay");
	struct gmod_fault f;

	for (unsigned n = 0; n < count_of(d, LANES); n++)
		clear(d, nth(d, LANES, n), KIND_OF_LANE);
	for (unsigned n = 0; n < count_of(d, WARPS); n++)
		clear(d, nth(d, WARPS, n), HAS_PC_OF_WARP);
	f = read_fault(d);
	assert_int_equal(f.kind, GMOD_FAULT_ILLEGAL_ADDRESS);
	assert_true(f.has_pc && !f.has_grid && !f.warps && !f.lane_count && !f.parameters.size);
	assert_string_equal(f.kernel, "store_stay");
	free(d.bytes);
}

/* The store's warp had left; 128 warps of a kernel in another stream had not. */
TEST(a_kernel_beside_a_fault_is_not_named)
{
	struct dump d = read_dump("beside");
	struct gmod_fault f = read_fault(d);

	assert_string_equal(f.kernel, "store_one");
	assert_true(f.has_pc && f.places == 1 && !f.has_grid && !f.warps && !f.lane_count);
	free(d.bytes);
}

/* The instruction of an assertion is not known. */
TEST(an_assertion_names_its_kernel_and_threads)
{
	struct dump d = read_dump("assertion");
	struct gmod_fault f = read_fault(d);

	assert_int_equal(f.kind, GMOD_FAULT_ASSERTION);
	assert_string_equal(f.kernel, "assertion");
	assert_true(!f.has_pc && !f.lines && f.has_grid && f.grid[0] == 8 && f.warps == 8);
	assert_true(f.lane_count == 1 && f.lane[0].thread[0] == 7);
	free(d.bytes);
}

/* Of a late store with two contexts. */
TEST(a_dump_may_name_nothing)
{
	struct dump d = read_dump("nothing");
	struct gmod_fault f = read_fault(d);

	assert_true(f.kind == GMOD_FAULT_UNKNOWN && !f.has_pc && !f.kernel && !f.places && !f.lines);
	free(d.bytes);
}

/* ---- dumps that are not as the driver writes them ---- */

/* The same dump with `more` empty sections in front of its own. */
static struct dump stretched(struct dump d, unsigned more)
{
	Elf64_Ehdr head = head_of(d);
	unsigned count = head.e_shnum + more;
	struct dump out = {malloc(d.size + count * sizeof(Elf64_Shdr)), d.size + count * sizeof(Elf64_Shdr)};

	memcpy(out.bytes, d.bytes, d.size);
	memset(out.bytes + d.size, 0, count * sizeof(Elf64_Shdr));
	for (unsigned i = 0; i < count; i++) {
		Elf64_Shdr s = {.sh_type = REGISTERS, .sh_entsize = 4};

		if (!i)
			s = (Elf64_Shdr){.sh_size = count, .sh_link = head.e_shstrndx + more};
		else if (i > more)
			s = section(d, i - more);
		s.sh_link += i > more && s.sh_link ? more : 0;
		memcpy(out.bytes + d.size + i * sizeof(s), &s, sizeof(s));
	}
	head.e_shoff = d.size;
	head.e_shnum = 0;
	head.e_shstrndx = SHN_XINDEX;
	memcpy(out.bytes, &head, sizeof(head));
	return out;
}

TEST(more_sections_than_16_bits_count)
{
	struct dump d = read_dump("load_far"), many = stretched(d, 70000);
	struct gmod_fault f = read_fault(d), g = read_fault(many);

	assert_true(g.pc == f.pc && g.places == f.places && g.warps == f.warps && g.has_grid && g.capability == 90);
	assert_true(g.parameters.size == f.parameters.size && g.lane_count == f.lane_count && g.lines == f.lines);
	assert_memory_equal(g.lane, f.lane, sizeof(f.lane));
	assert_memory_equal(g.block, f.block, sizeof(f.block));
	free(d.bytes);
	free(many.bytes);
}

TEST(a_dump_that_was_cut_short_is_said_to_be)
{
	struct dump d = read_dump("load_far");
	struct gmod_fault f;

	assert_non_null(gmod_dump_read(NULL, 0, &f));
	for (size_t size = 0; size < d.size; size += size < 4096 || d.size - size < 8192 ? 37 : 1999) {
		unsigned char *cut = malloc(size + !size);

		memcpy(cut, d.bytes, size);
		CHECK(gmod_dump_read(cut, size, &f), "%zu of %zu bytes", size, d.size);
		free(cut);
	}
	free(d.bytes);
}

/* A place where a change may matter: tables and their headers; the image that has the kernels, its lines most of all.
 */
static size_t place_in(struct dump d, uint64_t *seed)
{
	Elf64_Shdr image = own_image(d);
	size_t tables = nth(d, GRIDS, 0).sh_offset;

	switch (random_below(seed, 4)) {
	case 0:
		return head_of(d).e_shoff + random_below(seed, d.size - head_of(d).e_shoff);
	case 1:
		return tables + random_below(seed, d.size - tables);
	case 2:
		return image.sh_offset + random_below(seed, image.sh_size);
	default:
		return image.sh_offset + 6264 + random_below(seed, 8000);
	}
}

static void damage(const char *kernel, unsigned rounds, uint64_t *seed)
{
	enum { MOST = 12 };
	static const unsigned char likely[] = {0, 1, 0x7f, 0x80, 0xff};
	struct dump d = read_dump(kernel);

	for (unsigned round = 0; round < rounds; round++) {
		size_t at[MOST], n = 1 + random_below(seed, MOST);
		unsigned char was[MOST];
		struct gmod_fault f;

		for (size_t i = 0; i < n; i++) {
			at[i] = i && random_below(seed, 2) ? at[i - 1] + 1 : place_in(d, seed);
			at[i] = at[i] < d.size ? at[i] : d.size - 1;
		}
		for (size_t i = 0; i < n; i++) {
			was[i] = d.bytes[at[i]];
			d.bytes[at[i]] = random_below(seed, 2) ? likely[random_below(seed, sizeof(likely))]
							       : (unsigned char)random64(seed);
		}
		if (!gmod_dump_read(d.bytes, d.size, &f))
			read_all(&f);
		while (n--)
			d.bytes[at[n]] = was[n];
	}
	free(d.bytes);
}

TEST(damaged_dumps_do_no_harm)
{
	static const char *const kernels[] = {"inline_load", "called_load", "load_far", "store", "trap"};
	const char *said = getenv("GMOD_FUZZ_ROUNDS");
	unsigned rounds = said ? (unsigned)strtoul(said, NULL, 10) : 10000;
	uint64_t seed = 1;

	for (size_t i = 0; i < SIZE_OF(kernels); i++)
		damage(kernels[i], rounds / SIZE_OF(kernels), &seed);
}
