#include "lib/faults/dump.h"

#include <elf.h>

#include "lib/faults/address.h"
#include "lib/faults/lines.h"

/* ---- ELF files: the dump, and the images of code in it ---- */

struct elf {
	struct gmod_bytes all, table, names;
	uint64_t count, step;
};

/* If it does not lie inside it has no bytes. */
struct section {
	uint64_t index;
	Elf64_Shdr head;
	struct gmod_bytes bytes;
};

/* false: there is none, and *s has no bytes */
static bool section_at(const struct elf *e, uint64_t index, struct section *s)
{
	*s = (struct section){.index = index};
	if (index >= e->count || !gmod_read(e->table, index * e->step, &s->head, sizeof(s->head)))
		return false;
	(void)gmod_part(e->all, s->head.sh_offset, s->head.sh_size, &s->bytes);
	return true;
}

/* Where there are more sections than 16 bits can count, the first one says how many, and which has the names. */
static const char *open_elf(struct gmod_bytes all, struct elf *e)
{
	Elf64_Ehdr head;
	Elf64_Shdr first;
	struct section names;

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
	(void)section_at(e, head.e_shstrndx == SHN_XINDEX ? first.sh_link : head.e_shstrndx, &names);
	e->names = names.bytes;
	return NULL;
}

/* If there is none *s has no bytes. */
static void section_named(const struct elf *e, const char *name, struct section *s)
{
	for (uint64_t i = 0; section_at(e, i, s); i++) {
		const char *its = gmod_text(e->names, s->head.sh_name);

		if (its && !strcmp(its, name))
			return;
	}
}

/* ---- the driver's tables ---- */

/*
 * By the type of section. Each table is of a row of another: sh_link is that one's section, sh_info the row. So a
 * device has multiprocessors and grids, a multiprocessor blocks, a block warps, a warp lanes, a lane registers, a grid
 * parameters. A table stands behind the one that it is of.
 */
enum { REGISTERS = 0x80000005, IMAGE = 0x80000007, DEVICES = 0x80000009, MULTIPROCESSORS = 0x8000000b };
enum { GRIDS = 0x8000000c, BLOCKS, WARPS, LANES, PARAMETERS = 0x80000012 };

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

static bool read_row(const struct section *s, uint32_t type, uint64_t row, void *out, size_t size)
{
	return s->head.sh_type == type && s->head.sh_entsize >= size && row < s->head.sh_size / s->head.sh_entsize &&
	       gmod_read(s->bytes, row * s->head.sh_entsize, out, size);
}

/* From a table to the row that it is of, and to that row's table. */
static bool climb(const struct elf *e, struct section *s, uint32_t type, void *out, size_t size)
{
	uint64_t row = s->head.sh_info;

	return section_at(e, s->head.sh_link, s) && read_row(s, type, row, out, size);
}

/* The first table of that type that is of that row. false: there is none, and *s has no bytes */
static bool table_of(const struct elf *e, uint32_t type, uint64_t table, uint64_t row, struct section *s)
{
	for (uint64_t i = 0; section_at(e, i, s); i++)
		if (s->head.sh_type == type && s->head.sh_link == table && s->head.sh_info == row)
			return true;
	return false;
}

static bool read_lane(const struct section *lanes, uint64_t row, struct lane_row *out)
{
	return row < GMOD_FAULT_LANES && read_row(lanes, LANES, row, out, sizeof(*out));
}

/* ---- where there are faults ---- */

enum { PLACES = 32, MULTIPROCESSORS_MAX = 1024, INSTRUCTION = 16 };

struct place {
	uint64_t pc;    /* of the instruction; 0: not known */
	uint32_t kind;  /* the driver's; 0 is a trap */
	unsigned warps; /* how many are there */
	uint64_t table; /* of the first one's lanes; where all have left, of the multiprocessors */
};

/* Behind those that count is room for what is counted no longer. */
struct places {
	struct place at[PLACES + 1];
	unsigned count;
};

static struct place *find_place(struct places *p, uint32_t kind, uint64_t pc)
{
	struct place *at = p->at;

	while (at < p->at + p->count && (at->pc != pc || at->kind != kind))
		at++;
	if (at == p->at + p->count) {
		*at = (struct place){.kind = kind, .pc = pc};
		p->count += p->count < PLACES;
	}
	return at;
}

/* In a warp at a fault the driver marks lanes. A trap has no kind: there it is all lanes that were active. */
static bool is_marked(const struct lane_row *l, const struct warp_row *w, uint32_t kind)
{
	return kind ? l->kind != 0 : l->index < GMOD_FAULT_LANES && w->active >> l->index & 1;
}

/* A warp without a fault may be of another kernel, which has done nothing. A lane that trapped is behind its trap. */
static void note_warp(const struct elf *e, const struct section *lanes, struct places *p)
{
	struct section s = *lanes;
	struct warp_row w;
	struct lane_row l;
	struct place *at;
	uint32_t kind = 0;
	uint64_t trap = 0;

	if (!climb(e, &s, WARPS, &w, sizeof(w)))
		return;
	for (unsigned i = 0; !kind && read_lane(lanes, i, &l); i++) {
		kind = l.kind;
		trap = !trap && is_marked(&l, &w, 0) ? l.virtual_pc - INSTRUCTION : trap;
	}
	if (!kind && !w.is_broken)
		return;
	at = find_place(p, kind, !kind ? trap : w.has_pc ? w.pc : 0);
	if (!at->warps++)
		at->table = lanes->index;
}

/* What a multiprocessor says stays when its warps leave. */
static void note_multiprocessors(const struct section *s, struct places *p)
{
	struct multiprocessor_row m;
	struct place *at;

	for (unsigned i = 0; i < MULTIPROCESSORS_MAX && read_row(s, MULTIPROCESSORS, i, &m, sizeof(m)); i++)
		if (m.kind) {
			at = find_place(p, m.kind, m.has_pc ? m.pc : 0);
			at->table = at->warps ? at->table : s->index;
		}
}

static const char *note_places(const struct elf *e, struct places *p)
{
	struct section s;

	for (uint64_t i = 0; section_at(e, i, &s); i++) {
		if (s.head.sh_type >= SHT_LOUSER && s.head.sh_size && !s.bytes.size)
			return "a section does not lie inside";
		if (s.head.sh_type == LANES)
			note_warp(e, &s, p);
		note_multiprocessors(&s, p);
	}
	return NULL;
}

static const struct place *first_place(const struct places *p)
{
	const struct place *best = p->at;

	for (const struct place *at = p->at; at < p->at + p->count; at++)
		if (at->warps > best->warps)
			best = at;
	return best;
}

/* ---- the first warp there ---- */

struct warp {
	struct warp_row row;
	uint64_t entry;                /* of the grid; 0: not known */
	struct gmod_lane_state shared; /* what its lanes have in common */
};

static struct gmod_bytes three(const uint32_t numbers[3])
{
	return (struct gmod_bytes){(const unsigned char *)numbers, 3 * sizeof(*numbers)};
}

/* of: the table of multiprocessors of the grid's device */
static void read_grid(const struct elf *e, const struct section *of, uint64_t id, struct warp *w, struct gmod_fault *f)
{
	struct section grids, parameters;
	struct grid_row g = {0};
	uint64_t row = 0;

	(void)table_of(e, GRIDS, of->head.sh_link, of->head.sh_info, &grids);
	while ((f->has_grid = read_row(&grids, GRIDS, row, &g, sizeof(g))) && g.id != id)
		row++;
	if (!f->has_grid)
		return;
	memcpy(f->grid, g.size, sizeof(f->grid));
	memcpy(f->block_size, g.block_size, sizeof(f->block_size));
	f->launched_tid = g.tid;
	(void)table_of(e, PARAMETERS, grids.index, row, &parameters);
	f->parameters = w->shared.parameters = parameters.bytes;
	w->shared.parameters_at = g.parameters_at;
	w->shared.grid = three(f->grid);
	w->shared.block_size = three(f->block_size);
	w->entry = g.entry;
}

/* *s: the lanes' table, then that of the multiprocessors */
static void read_warp(const struct elf *e, struct section *s, struct warp *w, struct gmod_fault *f)
{
	struct multiprocessor_row m;
	struct block_row b;

	if (!climb(e, s, WARPS, &w->row, sizeof(w->row)) || !climb(e, s, BLOCKS, &b, sizeof(b)) ||
	    !climb(e, s, MULTIPROCESSORS, &m, sizeof(m)))
		return;
	memcpy(f->block, b.index, sizeof(f->block));
	w->shared.block = f->block;
	read_grid(e, s, b.grid, w, f);
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
	struct section s;
	const char *name = section_at(image, index, &s) ? gmod_text(image->names, s.head.sh_name) : NULL;

	if (!name || s.head.sh_type != SHT_PROGBITS || !s.head.sh_addr || strncmp(name, ".text.", 6) != 0)
		return false;
	s.bytes.size &= ~(size_t)(INSTRUCTION - 1);
	*out = (struct code){*image, index, name + 6, {s.bytes, s.head.sh_addr, capability}};
	return true;
}

static bool has_code(const struct code *c, uint64_t pc)
{
	return pc - c->text.address < c->text.bytes.size;
}

/* The code that pc is in. No driver writes images that overlap: not all of such a dump are looked at. */
static void find_code(const struct elf *e, uint64_t entry, struct gmod_fault *f, struct code *found)
{
	uint64_t left = e->all.size / sizeof(Elf64_Shdr);
	struct section s;
	struct elf image;
	struct code c;

	for (uint64_t i = 0; section_at(e, i, &s); i++) {
		if (s.head.sh_type != IMAGE || open_elf(s.bytes, &image) || image.count > left)
			continue;
		left -= image.count;
		for (uint64_t k = 0; k < image.count; k++) {
			if (!read_code(&image, k, f->capability, &c))
				continue;
			f->kernel = has_code(&c, entry) ? c.name : f->kernel;
			*found = f->has_pc && has_code(&c, f->pc) ? c : *found;
		}
	}
}

/* A function within a kernel's code is called "$KERNEL$FUNCTION". Some symbols have an offset for an address. */
static void name_function(const struct code *c, struct gmod_fault *f)
{
	struct section symbols, names;
	Elf64_Sym s;

	section_named(&c->image, ".symtab", &symbols);
	(void)section_at(&c->image, symbols.head.sh_link, &names);
	for (uint64_t i = 0; gmod_read(symbols.bytes, i * sizeof(s), &s, sizeof(s)); i++) {
		uint64_t start = s.st_value < c->text.address ? s.st_value + c->text.address : s.st_value;
		const char *name = gmod_text(names.bytes, s.st_name), *bare;

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
	struct section lines, strings;

	f->kernel = f->kernel ? f->kernel : c->name;
	f->function = strcmp(f->kernel, c->name) ? c->name : NULL;
	f->offset = f->pc - c->text.address;
	f->has_instruction =
	    f->offset % INSTRUCTION == 0 && gmod_read(c->text.bytes, f->offset, f->instruction, INSTRUCTION);
	f->has_operand = f->has_instruction && gmod_sass_operand(f->instruction, f->capability, &f->operand);
	name_function(c, f);
	section_named(&c->image, ".debug_line", &lines);
	section_named(&c->image, ".debug_str", &strings);
	f->lines = gmod_lines_at(lines.bytes, strings.bytes, f->pc, f->at);
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
	struct section s, registers;
	struct warp w = {0};
	struct code code = {0};
	struct device_row d;
	struct lane_row l;
	uint64_t together = 0;

	f->kind = at->kind < sizeof(kinds) ? kinds[at->kind] : GMOD_FAULT_UNKNOWN;
	f->driver_kind = at->kind;
	f->has_pc = at->pc != 0;
	f->pc = at->pc;
	f->warps = at->warps;
	(void)section_at(e, at->table, &s);
	if (at->warps)
		read_warp(e, &s, &w, f);
	if (climb(e, &s, DEVICES, &d, sizeof(d)))
		f->capability = d.major * 10 + d.minor;
	find_code(e, w.entry, f, &code);
	if (code.name)
		read_instruction(&code, f);
	(void)section_at(e, at->table, &s);
	for (unsigned i = 0; read_lane(&s, i, &l); i++)
		if (is_marked(&l, &w.row, at->kind)) {
			w.shared.have_parted |= together && l.virtual_pc != together;
			together = l.virtual_pc;
		}
	for (unsigned i = 0; read_lane(&s, i, &l); i++)
		if (is_marked(&l, &w.row, at->kind)) {
			(void)table_of(e, REGISTERS, at->table, i, &registers);
			take_lane(&w, &l, registers.bytes, &code, f);
		}
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
