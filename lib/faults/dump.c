#include "lib/faults/dump.h"

#include <elf.h>

#include "lib/faults/address.h"
#include "lib/faults/lines.h"

/* ---- ELF files: the dump, and the images of code in it ---- */

struct elf {
	struct gmod_bytes all, table, names;
	uint64_t count, step;
};

static bool section_at(const struct elf *e, uint64_t index, Elf64_Shdr *out)
{
	return index < e->count && gmod_read(e->table, index * e->step, out, sizeof(*out));
}

/* Of a section that does not lie inside: nothing. */
static struct gmod_bytes contents(const struct elf *e, const Elf64_Shdr *s)
{
	struct gmod_bytes bytes = {NULL, 0};

	(void)gmod_part(e->all, s->sh_offset, s->sh_size, &bytes);
	return bytes;
}

/* Where there are more sections than 16 bits can count, the first one says how many, and which has the names. */
static const char *open_elf(struct gmod_bytes all, struct elf *e)
{
	Elf64_Ehdr head;
	Elf64_Shdr first, names;

	*e = (struct elf){.all = all};
	if (!gmod_read(all, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return "it is no ELF file of 64 bits";
	e->step = head.e_shentsize;
	if (e->step < sizeof(first) || !gmod_read(all, head.e_shoff, &first, sizeof(first)))
		return "its table of sections is missing";
	e->count = head.e_shnum ? head.e_shnum : first.sh_size;
	if (e->count > all.size / e->step || !gmod_part(all, head.e_shoff, e->count * e->step, &e->table))
		return "its table of sections is cut off";
	if (section_at(e, head.e_shstrndx == SHN_XINDEX ? first.sh_link : head.e_shstrndx, &names))
		e->names = contents(e, &names);
	return NULL;
}

/* ---- the driver's tables ---- */

/*
 * By the type of section. Each table is of a row of another: sh_link is that one's section, sh_info the row. So a
 * device has multiprocessors and grids, a multiprocessor blocks, a block warps, a warp lanes and uniform registers, a
 * lane registers, a grid parameters. A table stands behind the one that it is of.
 */
enum { REGISTERS = 0x80000005, IMAGE = 0x80000007, DEVICES = 0x80000009, MULTIPROCESSORS = 0x8000000b };
enum { GRIDS = 0x8000000c, BLOCKS, WARPS, LANES, PARAMETERS = 0x80000012, UNIFORM_REGISTERS };

/* Rows may be longer than what is known of them. */
struct device_row {
	uint64_t name, type, architecture;
	uint32_t index, pci_bus, pci_device, multiprocessors, warps, lanes, registers, predicates, major, minor;
};

struct multiprocessor_row {
	uint32_t index, unused, kind, has_pc;
	uint64_t pc;
};

struct grid_row {
	uint64_t id, context, function, entry, module, parent, parameters_at;
	uint32_t type, origin, status, registers, size[3], block_size[3], is_blocking, tid;
};

struct block_row {
	uint64_t grid;
	uint32_t index[3];
};

struct warp_row {
	uint64_t pc;
	uint32_t index, valid, active, is_broken, has_pc;
};

struct lane_row {
	uint64_t virtual_pc, physical_pc;
	uint32_t index, thread[3], kind;
};

/* *table is the table's header. */
static bool read_row(const struct elf *e, uint64_t index, uint32_t type, uint64_t row, void *out, size_t size,
		     Elf64_Shdr *table)
{
	return section_at(e, index, table) && table->sh_type == type && table->sh_entsize >= size &&
	       row < table->sh_size / table->sh_entsize &&
	       gmod_read(contents(e, table), row * table->sh_entsize, out, size);
}

/* From a table to the row that it is of, and to that row's table. */
static bool climb(const struct elf *e, Elf64_Shdr *table, uint32_t type, void *row, size_t size)
{
	return read_row(e, table->sh_link, type, table->sh_info, row, size, table);
}

static bool read_lane(const struct elf *e, uint64_t lanes, uint64_t row, struct lane_row *out)
{
	Elf64_Shdr table;

	return row < GMOD_FAULT_LANES && read_row(e, lanes, LANES, row, out, sizeof(*out), &table);
}

/* ---- where there are faults ---- */

enum { PLACES = 32, MULTIPROCESSORS_MAX = 1024, INSTRUCTION = 16 };

/* An instruction, if it is known, and the driver's kind: 0 is a trap. */
struct place {
	uint64_t pc;
	bool has_pc;
	uint32_t kind;
	unsigned warps, multiprocessors; /* how many are there, or say that they were */
	uint64_t table;                  /* of the first warp's lanes, or where there is none of multiprocessors */
};

/* Behind those that count is room for what is counted no longer. */
struct places {
	struct place at[PLACES + 1];
	unsigned count;
};

static struct place *find_place(struct places *p, uint32_t kind, bool has_pc, uint64_t pc)
{
	struct place *at = p->at;

	while (at < p->at + p->count && (at->has_pc != has_pc || (has_pc && at->pc != pc) || at->kind != kind))
		at++;
	if (at == p->at + p->count) {
		*at = (struct place){.kind = kind, .has_pc = has_pc, .pc = has_pc ? pc : 0};
		p->count += p->count < PLACES;
	}
	return at;
}

/* In a warp at a fault the driver marks lanes. A trap has no kind: there it is all lanes that were active. */
static bool is_marked(const struct lane_row *l, const struct warp_row *w, uint32_t kind)
{
	return kind ? l->kind != 0 : l->index < GMOD_FAULT_LANES && w->active >> l->index & 1;
}

/* A warp without a fault may be of another kernel, which has done nothing. A lane that trapped is behind the trap. */
static void note_warp(const struct elf *e, uint64_t lanes, Elf64_Shdr table, struct places *p)
{
	struct warp_row w;
	struct lane_row l;
	struct place *at;
	uint32_t kind = 0;
	uint64_t behind = 0;

	if (!climb(e, &table, WARPS, &w, sizeof(w)))
		return;
	for (unsigned i = 0; !kind && read_lane(e, lanes, i, &l); i++) {
		kind = l.kind;
		behind = !behind && is_marked(&l, &w, 0) ? l.virtual_pc : behind;
	}
	if (!kind && !w.is_broken)
		return;
	at = kind ? find_place(p, kind, w.has_pc, w.pc) : find_place(p, 0, behind != 0, behind - INSTRUCTION);
	if (!at->warps++)
		at->table = lanes;
}

/* What a multiprocessor says stays when its warps leave. */
static void note_multiprocessors(const struct elf *e, uint64_t index, struct places *p)
{
	struct multiprocessor_row m;
	Elf64_Shdr table;

	for (unsigned i = 0; i < MULTIPROCESSORS_MAX && read_row(e, index, MULTIPROCESSORS, i, &m, sizeof(m), &table);
	     i++)
		if (m.kind) {
			struct place *at = find_place(p, m.kind, m.has_pc, m.pc);

			at->multiprocessors++;
			at->table = at->warps ? at->table : index;
		}
}

static const char *note_places(const struct elf *e, struct places *p)
{
	Elf64_Shdr s;

	for (uint64_t i = 0; section_at(e, i, &s); i++) {
		if (s.sh_type >= SHT_LOUSER && s.sh_size && !contents(e, &s).size)
			return "a section does not lie inside";
		if (s.sh_type == LANES)
			note_warp(e, i, s, p);
		if (s.sh_type == MULTIPROCESSORS)
			note_multiprocessors(e, i, p);
	}
	return NULL;
}

static const struct place *first_place(const struct places *p)
{
	const struct place *best = p->at;

	for (const struct place *at = p->at; at < p->at + p->count; at++)
		if (at->warps > best->warps ||
		    (at->warps == best->warps && at->multiprocessors > best->multiprocessors))
			best = at;
	return best;
}

/* ---- the first warp there ---- */

struct warp {
	struct warp_row row;
	uint64_t entry;                /* of the grid; 0: not known */
	struct gmod_lane_state shared; /* what its lanes have in common */
	struct gmod_bytes registers[GMOD_FAULT_LANES];
};

static struct gmod_bytes three(const uint32_t numbers[3])
{
	return (struct gmod_bytes){(const unsigned char *)numbers, 3 * sizeof(*numbers)};
}

static bool is_of(const Elf64_Shdr *s, uint32_t type, uint64_t table, uint64_t row)
{
	return s->sh_type == type && s->sh_link == table && s->sh_info == row;
}

/* The row of the grid in a table of grids. */
static uint64_t read_grid(const struct elf *e, uint64_t grids, uint64_t id, struct warp *w, struct gmod_fault *f)
{
	struct grid_row g;
	Elf64_Shdr table;
	uint64_t row = 0;

	while ((f->has_grid = read_row(e, grids, GRIDS, row, &g, sizeof(g), &table)) && g.id != id)
		row++;
	if (f->has_grid) {
		memcpy(f->grid, g.size, sizeof(f->grid));
		memcpy(f->block_size, g.block_size, sizeof(f->block_size));
		f->launched_tid = g.tid;
		w->entry = g.entry;
		w->shared.grid = three(f->grid);
		w->shared.block_size = three(f->block_size);
		w->shared.parameters_at = g.parameters_at;
	}
	return row;
}

/* *table: the header of the lanes' table, then of the multiprocessors' */
static void read_warp(const struct elf *e, uint64_t lanes, Elf64_Shdr *table, struct warp *w, struct gmod_fault *f)
{
	Elf64_Shdr of_lanes = *table, s;
	struct multiprocessor_row m;
	struct block_row b;
	uint64_t grids = 0, row = 0;

	if (!climb(e, table, WARPS, &w->row, sizeof(w->row)) || !climb(e, table, BLOCKS, &b, sizeof(b)) ||
	    !climb(e, table, MULTIPROCESSORS, &m, sizeof(m)))
		return;
	memcpy(f->block, b.index, sizeof(f->block));
	w->shared.block = f->block;
	for (uint64_t i = 0; section_at(e, i, &s); i++)
		if (s.sh_type == REGISTERS && s.sh_link == lanes && s.sh_info < GMOD_FAULT_LANES) {
			w->registers[s.sh_info] = contents(e, &s);
		} else if (is_of(&s, UNIFORM_REGISTERS, of_lanes.sh_link, of_lanes.sh_info)) {
			w->shared.uniform = contents(e, &s);
		} else if (!grids && is_of(&s, GRIDS, table->sh_link, table->sh_info)) {
			grids = i;
			row = read_grid(e, i, b.grid, w, f);
		} else if (f->has_grid && is_of(&s, PARAMETERS, grids, row)) {
			w->shared.parameters = contents(e, &s);
			f->parameters = w->shared.parameters.at;
			f->parameter_bytes = w->shared.parameters.size;
		}
}

/* ---- the code ---- */

/* A section of code in an image. */
struct code {
	struct elf image;
	uint64_t index;
	const char *name;
	struct gmod_code text;
};

/* false: it is no code, or was not loaded */
static bool read_code(const struct elf *image, uint64_t index, unsigned capability, struct code *out)
{
	struct gmod_bytes bytes;
	const char *name;
	Elf64_Shdr s;

	if (!section_at(image, index, &s) || s.sh_type != SHT_PROGBITS || !s.sh_addr)
		return false;
	name = gmod_text(image->names, s.sh_name);
	if (!name || strncmp(name, ".text.", 6) != 0)
		return false;
	bytes = contents(image, &s);
	*out = (struct code){*image, index, name + 6, {{bytes.at, bytes.size & ~(size_t)15}, s.sh_addr, capability}};
	return true;
}

/* The code that pc is in. No driver writes images that overlap: not all of such a dump are looked at. */
static void find_code(const struct elf *e, uint64_t entry, struct gmod_fault *f, struct code *found)
{
	uint64_t left = e->all.size / sizeof(Elf64_Shdr);
	struct elf image;
	struct code c;
	Elf64_Shdr s;

	for (uint64_t i = 0; section_at(e, i, &s); i++) {
		if (s.sh_type != IMAGE || open_elf(contents(e, &s), &image) || image.count > left)
			continue;
		left -= image.count;
		for (uint64_t k = 0; k < image.count; k++) {
			bool is_code = read_code(&image, k, f->capability, &c);

			if (is_code && entry - c.text.address < c.text.bytes.size)
				f->kernel = c.name;
			if (is_code && f->has_pc && f->pc - c.text.address < c.text.bytes.size)
				*found = c;
		}
	}
}

static struct gmod_bytes named(const struct elf *image, const char *name, Elf64_Shdr *s)
{
	for (uint64_t i = 0; section_at(image, i, s); i++) {
		const char *its = gmod_text(image->names, s->sh_name);

		if (its && !strcmp(its, name))
			return contents(image, s);
	}
	return (struct gmod_bytes){NULL, 0};
}

/* A function within a kernel's code is called "$KERNEL$FUNCTION". Some symbols have an offset for an address. */
static void name_function(const struct code *c, struct gmod_fault *f)
{
	Elf64_Shdr table = {0}, of_names;
	struct gmod_bytes symbols = named(&c->image, ".symtab", &table);
	Elf64_Sym s;

	if (!section_at(&c->image, table.sh_link, &of_names))
		return;
	for (uint64_t i = 0; gmod_read(symbols, i * sizeof(s), &s, sizeof(s)); i++) {
		uint64_t start = s.st_value < c->text.address ? s.st_value + c->text.address : s.st_value;
		const char *name = gmod_text(contents(&c->image, &of_names), s.st_name), *bare;

		if (!name || ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx != c->index ||
		    start == c->text.address || f->pc - start >= s.st_size)
			continue;
		bare = *name == '$' ? strchr(name + 1, '$') : NULL;
		f->function = bare ? bare + 1 : name;
		f->offset = f->pc - start;
		return;
	}
}

static void read_instruction(const struct code *c, struct gmod_fault *f)
{
	Elf64_Shdr s;
	struct gmod_line_table lines = {named(&c->image, ".debug_line", &s), named(&c->image, ".debug_str", &s)};

	f->kernel = f->kernel ? f->kernel : c->name;
	f->function = strcmp(f->kernel, c->name) ? c->name : NULL;
	f->offset = f->pc - c->text.address;
	f->has_instruction =
	    f->offset % INSTRUCTION == 0 && gmod_read(c->text.bytes, f->offset, f->instruction, INSTRUCTION);
	f->has_operand = f->has_instruction && gmod_sass_operand(f->instruction, f->capability, &f->operand);
	name_function(c, f);
	f->lines = gmod_lines_at(&lines, f->pc, f->at);
}

static void take_lane(const struct warp *w, const struct lane_row *l, struct gmod_bytes registers, const struct code *c,
		      struct gmod_fault *f)
{
	struct gmod_fault_lane *out = &f->lane[f->lane_count++];
	struct gmod_lane_state state = w->shared;

	memcpy(out->thread, l->thread, sizeof(l->thread));
	state.virtual_pc = l->virtual_pc;
	state.lane = l->index;
	state.thread = out->thread;
	state.registers = registers;
	if (f->has_operand && (f->operand.space == GMOD_SPACE_GLOBAL || f->operand.space == GMOD_SPACE_GENERIC))
		out->has_address = gmod_fault_address(&c->text, f->pc, &f->operand, &state, &out->address);
}

/* By the driver's kind. */
static const uint8_t kinds[] = {
    GMOD_FAULT_TRAP,        GMOD_FAULT_ILLEGAL_ADDRESS, GMOD_FAULT_STACK,           GMOD_FAULT_STACK,
    GMOD_FAULT_INSTRUCTION, GMOD_FAULT_OUT_OF_RANGE,    GMOD_FAULT_MISALIGNED,      GMOD_FAULT_ADDRESS_SPACE,
    GMOD_FAULT_INSTRUCTION, GMOD_FAULT_STACK,           GMOD_FAULT_ILLEGAL_ADDRESS, GMOD_FAULT_MISALIGNED,
    GMOD_FAULT_ASSERTION,   GMOD_FAULT_UNKNOWN,         GMOD_FAULT_ILLEGAL_ADDRESS, GMOD_FAULT_UNKNOWN,
    GMOD_FAULT_UNKNOWN,     GMOD_FAULT_OUT_OF_RANGE,    GMOD_FAULT_OUT_OF_RANGE,    GMOD_FAULT_STACK};

static void describe(const struct elf *e, const struct place *at, struct gmod_fault *f)
{
	struct warp w = {0};
	struct code code = {0};
	struct device_row d;
	struct lane_row l;
	Elf64_Shdr table;

	f->kind = at->kind < sizeof(kinds) ? kinds[at->kind] : GMOD_FAULT_UNKNOWN;
	f->driver_kind = at->kind;
	f->has_pc = at->has_pc;
	f->pc = at->pc;
	f->warps = at->warps;
	if (!section_at(e, at->table, &table))
		return;
	if (at->warps)
		read_warp(e, at->table, &table, &w, f);
	if (climb(e, &table, DEVICES, &d, sizeof(d)))
		f->capability = d.major * 10 + d.minor;
	find_code(e, w.entry, f, &code);
	if (code.name)
		read_instruction(&code, f);
	for (unsigned i = 0; at->warps && read_lane(e, at->table, i, &l); i++)
		if (is_marked(&l, &w.row, at->kind))
			take_lane(&w, &l, w.registers[i], &code, f);
}

const char *gmod_dump_read(const void *dump, size_t size, struct gmod_fault *f)
{
	struct places places = {0};
	struct elf e;
	const char *wrong = open_elf((struct gmod_bytes){dump, size}, &e);

	wrong = wrong ? wrong : note_places(&e, &places);
	if (wrong)
		return wrong;
	*f = (struct gmod_fault){.places = places.count};
	if (places.count)
		describe(&e, first_place(&places), f);
	return NULL;
}
