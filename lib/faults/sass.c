#include "lib/faults/sass.h"

#include <stddef.h>

enum { UNIFORM = 91, WIDE = 72, LD = 0x180, ST = 0x185, FIRST_KNOWN = 75, LAST_KNOWN = 121 };

/* By the low bits of the opcode, which its forms have in common. */
static const struct form {
	enum gmod_access access;
	enum gmod_space space;
	uint16_t opcode;
	bool floats;
} forms[] = {
    {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 0x181, false},    /* LDG */
    {GMOD_ACCESS_LOAD, GMOD_SPACE_GENERIC, LD, false},      /* LD */
    {GMOD_ACCESS_LOAD, GMOD_SPACE_LOCAL, 0x183, false},     /* LDL */
    {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 0x184, false},    /* LDS */
    {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 0x186, false},   /* STG */
    {GMOD_ACCESS_STORE, GMOD_SPACE_GENERIC, ST, false},     /* ST */
    {GMOD_ACCESS_STORE, GMOD_SPACE_LOCAL, 0x187, false},    /* STL */
    {GMOD_ACCESS_STORE, GMOD_SPACE_SHARED, 0x188, false},   /* STS */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 0x18a, false}, /* ATOM */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 0x18b, false}, /* ATOM.CAS */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 0x1a2, true},  /* ATOM of floats */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 0x1a8, false},  /* ATOMG */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 0x1a9, false},  /* ATOMG.CAS */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 0x1a3, true},   /* ATOMG of floats */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 0x18e, false},  /* RED */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 0x1a6, true},   /* REDG of floats */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 0x18c, false},  /* ATOMS */
    {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 0x18d, false},  /* ATOMS.CAS */
};

/* Signed and unsigned 1 and 2, then 4, 8 and 16; 0: not known. */
static unsigned bytes_of_move(const uint64_t words[2])
{
	static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 0};

	return bytes[gmod_bits(words, 73, 3)];
}

/* Integers: U32, S32, U64, F32, F16x2, S64, F64. Of floats, which have opcodes of their own from 9.0 on, F64 is the
 * last. */
static unsigned bytes_of_atomic(const uint64_t words[2], const struct form *f)
{
	static const uint8_t bytes[8] = {4, 4, 8, 4, 4, 8, 8, 0};
	unsigned type = gmod_bits(words, 73, 3);

	if (!f->floats)
		return bytes[type];
	return gmod_bits(words, 73, 4) == 15 ? 8 : type < 7 ? 4 : 0;
}

/*
 * 24 bits with a sign; of atomics from 10.0 on one fewer. LD and ST have 32, where they have no uniform register: up
 * to 7.5.
 */
static int32_t offset_of(const uint64_t words[2], const struct form *f, unsigned capability)
{
	unsigned unused = f->access == GMOD_ACCESS_ATOMIC && capability >= 100 ? 9 : 8;

	if ((f->opcode == LD || f->opcode == ST) && !gmod_bits(words, UNIFORM, 1))
		return (int32_t)gmod_bits(words, 32, 32);
	return (int32_t)(gmod_bits(words, 40, 24) << unused) >> unused;
}

static const uint8_t scales[4] = {1, 4, 8, 16};

static const struct form *form_of(const uint64_t words[2])
{
	unsigned opcode = gmod_bits(words, 0, GMOD_OPCODE_BITS);

	for (const struct form *f = forms; f < forms + sizeof(forms) / sizeof(*forms); f++)
		if (f->opcode == opcode)
			return f;
	return NULL;
}

bool gmod_sass_operand(const uint64_t words[2], unsigned capability, struct gmod_operand *out)
{
	const struct form *f = capability >= FIRST_KNOWN && capability <= LAST_KNOWN ? form_of(words) : NULL;
	bool is_uniform = gmod_bits(words, UNIFORM, 1), is_shared;

	if (!f)
		return false;
	is_shared = f->space == GMOD_SPACE_SHARED || f->space == GMOD_SPACE_LOCAL;
	*out = (struct gmod_operand){
	    .access = f->access,
	    .space = f->space,
	    .bytes = f->access == GMOD_ACCESS_ATOMIC ? bytes_of_atomic(words, f) : bytes_of_move(words),
	    .base = gmod_bits(words, 24, 8),
	    .wide = gmod_bits(words, WIDE, 1),
	    .scale = is_shared ? scales[gmod_bits(words, 78, 2)] : 1,
	    .offset = offset_of(words, f, capability),
	};
	/* From 8.0 on a uniform register of global accesses is the descriptor, which says nothing of the address. */
	return out->bytes && (!is_uniform || (capability >= 80 && !is_shared && out->base != GMOD_NO_REGISTER));
}
