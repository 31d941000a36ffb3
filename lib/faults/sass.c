#include "lib/faults/sass.h"

enum { UNIFORM = 91, WIDE = 72, FIRST_KNOWN = 75, LAST_KNOWN = 121 };

/* What an opcode accesses: the space in the low bits, then how. */
enum { GLOBAL = GMOD_SPACE_GLOBAL, GENERIC = GMOD_SPACE_GENERIC, SHARED = GMOD_SPACE_SHARED, LOCAL = GMOD_SPACE_LOCAL };
enum { KNOWN = 16, LOAD = KNOWN | GMOD_ACCESS_LOAD << 2, STORE = KNOWN | GMOD_ACCESS_STORE << 2 };
enum { ATOMIC = KNOWN | GMOD_ACCESS_ATOMIC << 2, FLOATS = 32 };

/* By the low bits of the opcode, which its forms have in common. */
/* clang-format off */
static const uint8_t forms[1 << GMOD_OPCODE_BITS] = {
    /* LDG, LD, LDL, LDS; STG, ST, STL, STS */
    [0x181] = LOAD | GLOBAL, [0x180] = LOAD | GENERIC, [0x183] = LOAD | LOCAL, [0x184] = LOAD | SHARED,
    [0x186] = STORE | GLOBAL, [0x185] = STORE | GENERIC, [0x187] = STORE | LOCAL, [0x188] = STORE | SHARED,
    /* ATOM, ATOMG, ATOMS: each with .CAS, and the first two of floats; RED, REDG of floats */
    [0x18a] = ATOMIC | GENERIC, [0x18b] = ATOMIC | GENERIC, [0x1a2] = ATOMIC | GENERIC | FLOATS,
    [0x1a8] = ATOMIC | GLOBAL, [0x1a9] = ATOMIC | GLOBAL, [0x1a3] = ATOMIC | GLOBAL | FLOATS,
    [0x18c] = ATOMIC | SHARED, [0x18d] = ATOMIC | SHARED,
    [0x18e] = ATOMIC | GLOBAL, [0x1a6] = ATOMIC | GLOBAL | FLOATS,
};
/* clang-format on */

/*
 * 0: not known. Of moves signed and unsigned 1 and 2, then 4, 8 and 16. Of atomics U32, S32, U64, F32, F16x2, S64, F64;
 * of floats, which have opcodes of their own from 9.0 on, F64 is the last.
 */
static unsigned bytes_of(const uint64_t words[2], unsigned form)
{
	static const uint8_t of_moves[8] = {1, 1, 2, 2, 4, 8, 16, 0}, of_atomics[8] = {4, 4, 8, 4, 4, 8, 8, 0};
	unsigned type = gmod_bits(words, 73, 3);

	if (form & FLOATS)
		return gmod_bits(words, 73, 4) == 15 ? 8 : type < 7 ? 4 : 0;
	return (form >> 2 & 3) == GMOD_ACCESS_ATOMIC ? of_atomics[type] : of_moves[type];
}

/*
 * 24 bits with a sign; of atomics from 10.0 on one fewer. LD and ST have 32, where they have no uniform register: up
 * to 7.5.
 */
static int32_t offset_of(const uint64_t words[2], const struct gmod_operand *o, unsigned capability)
{
	unsigned unused = o->access == GMOD_ACCESS_ATOMIC && capability >= 100 ? 9 : 8;

	if (o->access != GMOD_ACCESS_ATOMIC && o->space == GMOD_SPACE_GENERIC && !gmod_bits(words, UNIFORM, 1))
		return (int32_t)gmod_bits(words, 32, 32);
	return (int32_t)(gmod_bits(words, 40, 24) << unused) >> unused;
}

bool gmod_sass_operand(const uint64_t words[2], unsigned capability, struct gmod_operand *out)
{
	static const uint8_t scales[4] = {1, 4, 8, 16};
	unsigned form = forms[gmod_bits(words, 0, GMOD_OPCODE_BITS)];
	bool is_uniform = gmod_bits(words, UNIFORM, 1), is_shared;

	if (!form || capability < FIRST_KNOWN || capability > LAST_KNOWN)
		return false;
	*out = (struct gmod_operand){
	    .access = form >> 2 & 3,
	    .space = form & 3,
	    .bytes = bytes_of(words, form),
	    .base = gmod_bits(words, 24, 8),
	    .wide = gmod_bits(words, WIDE, 1),
	};
	is_shared = out->space == GMOD_SPACE_SHARED || out->space == GMOD_SPACE_LOCAL;
	out->scale = is_shared ? scales[gmod_bits(words, 78, 2)] : 1;
	out->offset = offset_of(words, out, capability);
	/* From 8.0 on a uniform register of global accesses is the descriptor, which says nothing of the address. */
	return out->bytes && (!is_uniform || (capability >= 80 && !is_shared && out->base != GMOD_NO_REGISTER));
}
