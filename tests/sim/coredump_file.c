/*
 * What an exception dump is made of, in the layout of NVIDIA's cudacoredump.h as dumps of an H100 have it: an ELF file
 * of tables, in which there is one module with one kernel. Its code is made up around the access that has faulted.
 */
#include "sim.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROCESSORS 132
#define CODE UINT64_C(0x7ff1d77a0000) /* where the kernel is on the device */
#define ACCESS 0x20                   /* where the access is in it */
#define GRID 3
#define SM 127
#define BLOCK_PROCESSOR ".dev0.sm127"

enum table { /* section types */
	     REGISTERS = 0x80000005,
	     IMAGE = 0x80000007,
	     DEVICES = 0x80000009,
	     CONTEXTS = 0x8000000a,
	     SMS,
	     GRIDS,
	     BLOCKS,
	     WARPS,
	     LANES,
	     MODULES,
	     PARAMETERS = 0x80000012,
	     UNIFORM_REGISTERS,
	     META = 0x80000016
};

struct device_row {
	uint64_t name, type, sm; /* in .strtab */
	uint32_t id, bus, device, sms, warps, lanes, registers, predicates, major, minor, instruction, status;
	uint32_t uniform_registers, uniform_predicates, unused[2];
};
struct context_row {
	uint64_t id, shared, local, global, tid;
};
struct grid_row {
	uint64_t id, context, function, entry, module, parent, parameters_at;
	uint32_t type, status, origin, registers, grid[3], block[3], attributes, tid, unused[8];
};
struct sm_row {
	uint32_t id, unused, exception, pc_valid;
	uint64_t pc, rest[3];
};
struct block_row {
	uint64_t grid;
	uint32_t index[3], unused[9];
};
struct warp_row {
	uint64_t pc;
	uint32_t id, valid, active, broken, pc_valid, unused, registers, unused2, shared, unused3[2], lanes, left,
	    unused4;
};
struct lane_row {
	uint64_t pc, offset;
	uint32_t id, thread[3], exception, unused[5];
};
struct meta_row {
	uint64_t unused;
	uint32_t driver[3], unused2, flags, time;
};
_Static_assert(sizeof(struct device_row) == 88 && sizeof(struct context_row) == 40 && sizeof(struct grid_row) == 136 &&
		   sizeof(struct sm_row) == 48 && sizeof(struct block_row) == 56 && sizeof(struct warp_row) == 64 &&
		   sizeof(struct lane_row) == 56 && sizeof(struct meta_row) == 32,
	       "as in dumps");

/* An ELF file that grows. Nothing is aligned, as in dumps. */
struct elf {
	FILE *file;
	char *bytes;
	size_t size;
	Elf64_Shdr section[200];
	unsigned count;
	char names[8192];
	unsigned names_size;
};

static void begin(struct elf *e)
{
	*e = (struct elf){.count = 1, .names_size = 1};
	e->file = open_memstream(&e->bytes, &e->size);
	fwrite(&(Elf64_Ehdr){0}, sizeof(Elf64_Ehdr), 1, e->file);
}

static unsigned add(struct elf *e, const char *name, unsigned type, unsigned link, unsigned info, const void *data,
		    size_t size, size_t row)
{
	e->section[e->count] = (Elf64_Shdr){.sh_name = e->names_size,
					    .sh_type = type,
					    .sh_flags = SHF_ALLOC,
					    .sh_offset = (size_t)ftell(e->file),
					    .sh_size = size,
					    .sh_link = link,
					    .sh_info = info,
					    .sh_entsize = row};
	e->names_size += 1 + (unsigned)sprintf(e->names + e->names_size, "%s", name);
	if (size)
		fwrite(data, size, 1, e->file);
	return e->count++;
}

#define ADD_ROW(e, name, type, link, info, ...) \
	add(e, name, type, link, info, &(__VA_ARGS__), sizeof(__VA_ARGS__), sizeof(__VA_ARGS__))

static char *end(struct elf *e, unsigned abi, unsigned abi_version, unsigned type, unsigned flags)
{
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, abi, abi_version},
			   .e_type = type,
			   .e_machine = EM_CUDA,
			   .e_version = EV_CURRENT,
			   .e_flags = flags,
			   .e_ehsize = sizeof(head),
			   .e_shentsize = sizeof(Elf64_Shdr)};

	head.e_shstrndx = add(e, ".shstrtab", SHT_STRTAB, 0, 0, e->names, e->names_size + sizeof(".shstrtab"), 0);
	head.e_shnum = e->count;
	head.e_shoff = (size_t)ftell(e->file);
	fwrite(e->section, sizeof(*e->section), e->count, e->file);
	fclose(e->file);
	memcpy(e->bytes, &head, sizeof(head));
	return e->bytes;
}

/* sm_90, with nothing but R2 or R2:R3 in addresses. */
static void encode(const struct fault *f, uint64_t words[2])
{
	static const uint64_t load[2] = {0x0000000402007981, 0x000ea8000c1e1100}, /* LDG.E R0, desc[UR4][R2.64] */
	    store[2] = {0x0000000402007986, 0x000fe2000c101104},                  /* STG.E desc[UR4][R2.64], R4 */
	    red[2] = {0x000000040200798e, 0x000fe2000c10e184},                    /* REDG.E.ADD [R2.64], R4 */
	    shared[2] = {0x0000000002007984, 0x000e260000000800},                 /* LDS R0, [R2] */
	    trap[2] = {0x000000040000795c, 0x000fe20000300000};                   /* BPT.TRAP 0x1 */
	const uint64_t *form = f->what == GT_SHARED  ? shared
			       : f->what >= GT_TRAPS ? trap
			       : f->what == GT_ADDS  ? red
			       : f->store            ? store
						     : load;
	uint64_t code = f->bytes == 1 ? 0 : f->bytes == 2 ? 2 : f->bytes == 8 ? 5 : f->bytes == 16 ? 6 : 4;

	memcpy(words, form, sizeof(load));
	if (form == load || form == store)
		words[1] = (words[1] & ~(UINT64_C(7) << 9)) | code << 9;
	if (form == load && f->bytes == 16)
		words[0] |= 4 << 16; /* to R4 */
	if (form == red && f->bytes == 8)
		words[1] |= 2 << 9;
}

static void put(FILE *file, uint64_t value, size_t bytes)
{
	fwrite(&value, bytes, 1, file);
}

/* LEB128, signed or not. */
static void put_leb(FILE *file, unsigned value)
{
	for (; value >= 0x40; value >>= 7)
		put(file, value | 0x80, 1);
	put(file, value, 1);
}

/* DWARF 2: all of the kernel is one line. */
static void add_lines(struct elf *e, const struct coredump *d, size_t code_size)
{
	static const unsigned char lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1};
	const char *slash = strrchr(d->file, '/');
	char *bytes;
	size_t size;
	FILE *f = open_memstream(&bytes, &size);
	uint32_t header;

	put(f, 0, 4);
	put(f, 2, 2);
	put(f, 0, 4);
	put(f, 0x0a0efb0101, 5); /* instructions of 1, statements, lines from -5, 14 of them, opcodes from 10 */
	fwrite(lengths, sizeof(lengths), 1, f);
	fprintf(f, "%.*s%c%c", slash ? (int)(slash - d->file) : 1, slash ? d->file : ".", 0, 0);
	fprintf(f, "%s%c", slash ? slash + 1 : d->file, 0);
	put(f, 1, 4); /* in folder 1, no time, no size; no more files */
	header = (uint32_t)ftell(f) - 10;
	put(f, 0x020900, 3);
	put(f, CODE, 8);
	put(f, 3, 1); /* the line, which is at least 1: from 1 on */
	put_leb(f, d->line - 1);
	put(f, 1, 1);
	put(f, 2, 1);
	put_leb(f, (unsigned)code_size);
	put(f, 0x010100, 3);
	fclose(f);
	memcpy(bytes, &(uint32_t){(uint32_t)size - 4}, 4);
	memcpy(bytes + 6, &header, 4);
	add(e, ".debug_line", SHT_PROGBITS, 0, 0, bytes, size, 0);
	free(bytes);
}

static void add_image(struct elf *dump, unsigned modules, const struct coredump *d)
{
	uint64_t code[16][2] = {{0x00000a00ff017b82, 0x000fe20000000800},  /* LDC R1, c[0x0][0x28] */
				{0x0000820000047ab9, 0x000fc80000000a00}}; /* ULDC.64 UR4, c[0x0][0x208] */
	static const uint64_t nop[2] = {0x0000000000007918, 0x000fc00000000000},
			      leave[2] = {0x000000000000794d, 0x000fea0003800000};
	char name[sizeof(d->kernel) + 16], names[sizeof(d->kernel) + 1] = "";
	Elf64_Sym symbols[2] = {{0}, {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0x10, 5, CODE, sizeof(code)}};
	struct elf e;
	unsigned text;
	char *image;

	encode(&d->fault, code[ACCESS / 16]);
	for (size_t i = ACCESS / 16 + 1; i < sizeof(code) / sizeof(*code); i++)
		memcpy(code[i], i == 4 ? leave : nop, sizeof(nop));
	strcpy(names + 1, d->kernel);
	snprintf(name, sizeof(name), ".text.%s", d->kernel);
	begin(&e);
	add(&e, ".strtab", SHT_STRTAB, 0, 0, names, strlen(d->kernel) + 2, 0);
	add(&e, ".symtab", SHT_SYMTAB, 1, 1, symbols, sizeof(symbols), sizeof(*symbols));
	add_lines(&e, d, sizeof(code));
	add(&e, ".nv.info", 0x70000000, 2, 0, NULL, 0, 0);
	text = add(&e, name, SHT_PROGBITS, 2, 1, code, sizeof(code), 0);
	e.section[text].sh_addr = CODE;
	e.section[text].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	image = end(&e, 0x41, 8, ET_EXEC, 0x0a005a04);
	add(dump, ".cudbg.relfimg.dev0.ctx0", IMAGE, modules, 0, image, e.size, 0);
	free(image);
}

/* CUDBGException_t */
static unsigned kind_of(const struct fault *f)
{
	static const unsigned char kinds[] = {[GT_ACCESS] = 14, [GT_STAYS] = 14, [GT_ADDS] = 14,   [GT_MISALIGNED] = 6,
					      [GT_SHARED] = 4,  [GT_TRAPS] = 0,  [GT_ASSERTS] = 12};

	return kinds[f->what];
}

static bool pc_is_valid(const struct fault *f)
{
	return f->what < GT_TRAPS;
}

static void add_grid(struct elf *e, unsigned devices, const struct coredump *d)
{
	struct grid_row row = {.id = GRID,
			       .context = (uintptr_t)d->ctx,
			       .function = CODE,
			       .entry = CODE,
			       .module = (uintptr_t)d->module,
			       .parameters_at = 0x210,
			       .type = 2,
			       .origin = 2,
			       .registers = 16,
			       .tid = (unsigned)d->tid};
	unsigned grids;

	memcpy(row.grid, d->thread.grid, sizeof(row.grid));
	memcpy(row.block, d->thread.block, sizeof(row.block));
	grids = ADD_ROW(e, ".cudbg.gridtbl.dev0", GRIDS, devices, 0, row);
	add(e, ".cudbg.param.dev0.grid0", PARAMETERS, grids, 0, d->parameters, d->parameter_bytes, d->parameter_bytes);
}

/* The block of the thread, of whose warp it alone is left. */
static void add_block(struct elf *e, unsigned sms, const struct coredump *d)
{
	const unsigned *t = d->thread.thread_index, *dim = d->thread.block;
	unsigned thread = t[0] + dim[0] * (t[1] + dim[1] * t[2]), lane = thread % 32, kind = kind_of(&d->fault);
	unsigned blocks, warps, lanes, valid = pc_is_valid(&d->fault);
	bool loads = !d->fault.store && d->fault.what == GT_ACCESS;
	uint32_t uniform[63] = {0},
		 registers[16] = {loads ? 0 : 0x5a5a5a5a, 0xfffdf0, (uint32_t)d->fault.at, d->fault.at >> 32};
	struct block_row block = {.grid = GRID};
	struct lane_row row = {.pc = CODE + ACCESS + 16, .offset = ACCESS + 16, .id = lane, .exception = kind};

	memcpy(block.index, d->thread.block_index, sizeof(block.index));
	memcpy(row.thread, t, sizeof(row.thread));
	blocks = ADD_ROW(e, ".cudbg.ctatbl" BLOCK_PROCESSOR, BLOCKS, sms, SM, block);
	warps = ADD_ROW(e, ".cudbg.wptbl" BLOCK_PROCESSOR ".cta0", WARPS, blocks, 0,
			(struct warp_row){.pc = valid ? CODE + ACCESS : 0,
					  .id = thread / 32,
					  .valid = 1u << lane,
					  .active = 1u << lane,
					  .broken = d->fault.what == GT_TRAPS,
					  .pc_valid = valid,
					  .registers = 16,
					  .shared = 0x400,
					  .lanes = 1u << lane,
					  .left = ~(1u << lane)});
	add(e, ".cudbg.uregs" BLOCK_PROCESSOR ".cta0.wp0", UNIFORM_REGISTERS, warps, 0, uniform, sizeof(uniform), 4);
	lanes = ADD_ROW(e, ".cudbg.lntbl" BLOCK_PROCESSOR ".cta0.wp0", LANES, warps, 0, row);
	add(e, ".cudbg.regs" BLOCK_PROCESSOR ".cta0.wp0.ln0", REGISTERS, lanes, 0, registers, sizeof(registers), 4);
}

static void add_processors(struct elf *e, unsigned devices, const struct coredump *d)
{
	struct sm_row rows[PROCESSORS] = {0};
	char name[64];
	unsigned sms;

	for (unsigned i = 0; i < PROCESSORS; i++)
		rows[i].id = i;
	if (d->fault.what != GT_TRAPS && !d->empty) {
		rows[SM].exception = kind_of(&d->fault);
		rows[SM].pc_valid = pc_is_valid(&d->fault);
		rows[SM].pc = rows[SM].pc_valid ? CODE + ACCESS : 0;
	}
	sms = add(e, ".cudbg.smtbl.dev0", SMS, devices, 0, rows, sizeof(rows), sizeof(*rows));
	for (unsigned i = 0; i < PROCESSORS; i++) {
		snprintf(name, sizeof(name), ".cudbg.ctatbl.dev0.sm%u", i);
		if (i == SM && d->stays && !d->empty)
			add_block(e, sms, d);
		else
			add(e, name, BLOCKS, sms, i, NULL, 0, sizeof(struct block_row));
	}
}

char *coredump_build(const struct coredump *d, size_t *size)
{
	static const char texts[] = "\0sm_90\0Simulated device\0GH100-A";
	struct elf e;
	unsigned devices, contexts, modules;
	char *bytes;

	begin(&e);
	devices = ADD_ROW(&e, ".cudbg.devtbl", DEVICES, 0, 0,
			  (struct device_row){7,
					      24,
					      1,
					      (unsigned)d->device,
					      (unsigned)device_bus(d->device),
					      0,
					      PROCESSORS,
					      64,
					      32,
					      255,
					      8,
					      9,
					      0,
					      16,
					      0,
					      63,
					      8,
					      {16}});
	contexts = ADD_ROW(&e, ".cudbg.ctxtbl.dev0", CONTEXTS, devices, 0,
			   (struct context_row){(uintptr_t)d->ctx, UINT64_C(0x7ff200000000), UINT64_C(0x7ff1e1000000),
						0x1000, (unsigned)d->tid});
	modules = ADD_ROW(&e, ".cudbg.modtbl.dev0.ctx0", MODULES, contexts, 0, (uint64_t){(uintptr_t)d->module});
	if (d->has_image)
		add_image(&e, modules, d);
	if (d->stays && !d->empty)
		add_grid(&e, devices, d);
	add_processors(&e, devices, d);
	ADD_ROW(&e, ".cudbg.meta", META, 0, 0,
		(struct meta_row){29, {580, 159, 13}, 0, d->ctx->dump.flags, (unsigned)time(NULL)});
	add(&e, ".strtab", SHT_STRTAB, 0, 0, texts, sizeof(texts), 0);
	bytes = end(&e, 0x33, 7, ET_CORE, 0);
	*size = e.size;
	return bytes;
}
