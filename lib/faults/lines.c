#include "lib/faults/lines.h"

/* So much of what is left, or all of it: what is missing at the end reads as zeros. */
static struct gmod_bytes take(struct gmod_bytes *left, uint64_t size)
{
	struct gmod_bytes taken = {left->at, size < left->size ? size : left->size};

	left->at += taken.size;
	left->size -= taken.size;
	return taken;
}

/* bytes: 8 at most */
static uint64_t take_number(struct gmod_bytes *left, unsigned bytes)
{
	struct gmod_bytes taken = take(left, bytes);
	uint64_t number = 0;

	memcpy(&number, taken.at, taken.size);
	return number;
}

static unsigned take_byte(struct gmod_bytes *c)
{
	return (unsigned)take_number(c, 1);
}

static uint64_t take_signed(struct gmod_bytes *c, uint64_t sign)
{
	uint64_t number = 0;
	unsigned shift = 0, byte;

	do {
		byte = take_byte(c);
		number |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
		shift += 7;
	} while (byte & 128);
	return number | (byte & sign && shift < 64 ? UINT64_MAX << shift : 0);
}

static uint64_t take_unsigned(struct gmod_bytes *c)
{
	return take_signed(c, 0);
}

/* "" where none ends inside */
static const char *take_string(struct gmod_bytes *c)
{
	const unsigned char *at = c->at, *end = memchr(at, 0, c->size);

	(void)take(c, end ? (uint64_t)(end - at) + 1 : UINT64_MAX);
	return end ? (const char *)at : "";
}

struct unit {
	unsigned version, step, line_range, opcode_base;
	int8_t line_base;
	struct gmod_bytes operands; /* how many each standard opcode has, from opcode 1 on */
	struct gmod_bytes files, program;
};

/* A unit that cannot be read has an empty program. */
static void take_unit(struct gmod_bytes *table, struct unit *u)
{
	struct gmod_bytes c = take(table, take_number(table, 4));

	*u = (struct unit){.version = (unsigned)take_number(&c, 2)};
	u->files = take(&c, take_number(&c, 4));
	u->step = take_byte(&u->files);
	(void)take(&u->files, u->version >= 4 ? 2 : 1);
	u->line_base = (int8_t)take_byte(&u->files);
	u->line_range = take_byte(&u->files);
	u->opcode_base = take_byte(&u->files);
	u->operands = take(&u->files, u->opcode_base ? u->opcode_base - 1 : 0);
	if (u->version >= 2 && u->version <= 4 && u->line_range)
		u->program = c;
}

/* Rows are counted from 1 on in each sequence. context: that of the row where the function was inlined, or 0. */
struct row {
	uint64_t address, file, number, context, function;
	uint32_t line;
	bool ends_sequence;
};

static const struct row first_row = {.file = 1, .line = 1};

enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS, INLINED_CALL = 0x90, FUNCTION_NAME };

static void run_extended(struct gmod_bytes c, struct row *r)
{
	unsigned opcode = take_byte(&c);

	r->ends_sequence = opcode == END_SEQUENCE;
	if (opcode == SET_ADDRESS)
		r->address = take_number(&c, 8);
	if (opcode == INLINED_CALL)
		r->context = take_unsigned(&c);
	if (opcode == INLINED_CALL || opcode == FUNCTION_NAME)
		r->function = take_unsigned(&c);
}

/* Whether that makes a row. */
static bool run_opcode(struct unit *u, struct row *r)
{
	struct gmod_bytes *c = &u->program;
	unsigned opcode = take_byte(c), special = (opcode < u->opcode_base ? 255 : opcode) - u->opcode_base;

	if (opcode >= u->opcode_base)
		r->line += (uint32_t)(u->line_base + (int)(special % u->line_range));
	if (opcode >= u->opcode_base || opcode == CONST_ADD_PC)
		r->address += special / u->line_range * u->step;
	else if (!opcode)
		run_extended(take(c, take_unsigned(c)), r);
	else if (opcode == ADVANCE_PC)
		r->address += take_unsigned(c) * u->step;
	else if (opcode == ADVANCE_LINE)
		r->line += (uint32_t)take_signed(c, 64);
	else if (opcode == SET_FILE)
		r->file = take_unsigned(c);
	else if (opcode == FIXED_ADVANCE_PC)
		r->address += take_number(c, 2);
	else
		for (unsigned i = opcode > u->operands.size ? 0 : u->operands.at[opcode - 1]; i > 0; i--)
			(void)take_unsigned(c);
	return opcode >= u->opcode_base || opcode == COPY || r->ends_sequence;
}

static bool next_row(struct unit *u, struct row *r)
{
	if (r->ends_sequence)
		*r = first_row;
	while (u->program.size)
		if (run_opcode(u, r))
			return ++r->number;
	return false;
}

/* Whether a row of this unit holds pc; the unit is then at the start of the row's sequence. */
static bool find_pc(struct unit *u, uint64_t pc, struct row *found)
{
	struct gmod_bytes sequence = u->program;

	for (struct row r = first_row; next_row(u, &r); *found = r) {
		if (r.number > 1 && found->address <= pc && pc < r.address) {
			u->program = sequence;
			return true;
		}
		if (r.ends_sequence)
			sequence = u->program;
	}
	return false;
}

static bool find_number(struct unit *u, uint64_t number, struct row *found)
{
	*found = first_row;
	while (next_row(u, found) && !found->ends_sequence)
		if (found->number == number)
			return true;
	return false;
}

/* ---- names of files ---- */

/* Directories, then files, each with its directory, a time and a size. Both are counted from 1 on. */
static void name_file(const struct unit *u, uint64_t file, struct gmod_fault_line *out)
{
	struct gmod_bytes c = u->files, directories = c;
	const char *name;
	uint64_t directory;

	while (*take_string(&c))
		;
	do {
		name = take_string(&c);
		directory = take_unsigned(&c);
		(void)take_unsigned(&c);
		(void)take_unsigned(&c);
	} while (*name && --file);
	out->file = *name ? name : NULL;
	for (name = ""; directory && *(name = take_string(&directories)); directory--)
		;
	out->directory = *name ? name : NULL;
}

unsigned gmod_lines_at(struct gmod_bytes lines, struct gmod_bytes strings, uint64_t pc,
		       struct gmod_fault_line at[GMOD_FAULT_INLINED])
{
	struct gmod_bytes sequence;
	struct row r = first_row;
	struct unit u;
	unsigned n = 0;

	do {
		if (!lines.size)
			return 0;
		take_unit(&lines, &u);
	} while (!find_pc(&u, pc, &r));
	sequence = u.program;
	while (r.line && n < GMOD_FAULT_INLINED) {
		struct gmod_fault_line *l = &at[n++];

		*l = (struct gmod_fault_line){.line = r.line};
		l->function = r.context ? gmod_text(strings, r.function) : NULL;
		name_file(&u, r.file, l);
		if (!l->file || *l->file == '/')
			l->directory = NULL;
		u.program = sequence;
		if (!r.context || !find_number(&u, r.context, &r))
			break;
	}
	return n;
}
