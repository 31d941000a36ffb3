#include "lib/faults/effect.h"

/* So many registers from the destination on, in the low bits, or: */
enum {
	WIDTH = 15,
	ALL_ON = 12,  /* all: how many depends on a shape, */
	BY_SIZE = 13, /* as the size says of what is loaded, */
	BY_73 = 14,   /* one more if that bit is set, */
	BY_FORM = 15, /* one more if bit 80 is set, or if it is of form 2, 3 or 7 */
};

enum {
	R2P = 0x004,
	ELECT = 0x02f,
	VIADD = 0x036,
	VOTEU = 0x086,
	FIRST_BETWEEN = 0x0c0, /* of the uniform ones */
	FIRST_OF_FLOW = 0x140,
	CALL_ABSOLUTE = 0x143,
	LONG_BRANCHES = 90, /* the capability from which on a branch's target has 8 more bits */
	URZ_255 = 100,      /* and that from which on URZ is no more UR63 */
};

/*
 * By the low bits of the opcode, which its forms have in common. Predicates are named at bit 81, and a second at 84.
 * Calls are not here, nor is what goes nobody knows where.
 */
/* clang-format off */
enum { K = GMOD_EFFECT_KNOWN, P = K | GMOD_EFFECT_PREDICATES, Q = P | GMOD_EFFECT_TWO_PREDICATES, U = K | GMOD_EFFECT_UNIFORM };

static const uint8_t effects[1 << GMOD_OPCODE_BITS] = {
    [0x002] = K | BY_FORM, [0x003] = K | 1, [R2P] = P, [0x005] = K | BY_FORM, [0x006] = P | 1, [0x007] = K | BY_FORM,
    [0x008] = K | 1, [0x009] = K | 1, [0x00a] = K | 1, [0x00b] = Q, [0x00c] = Q, [0x00f] = K | 1, [0x010] = Q | 1,
    [0x011] = P | 1, [0x012] = P | 1, [0x013] = K | 1, [0x014] = P | 1, [0x015] = P | 1, [0x016] = K | 1,
    [0x017] = P | 1, [0x019] = K | 1, [0x01a] = K | 1, [0x01b] = K | 1, [0x01c] = Q, [0x020] = K | 1, [0x021] = K | 1,
    [0x023] = K | 1, [0x024] = P | 1, [0x025] = P | 2, [0x026] = K | 1, [0x027] = P | 1, [0x028] = K | 2,
    [0x029] = K | 2, [0x02a] = Q, [0x02b] = K | 2, [0x02d] = K, [0x02e] = K, [0x030] = K | 1, [0x031] = K | 1,
    [0x032] = K | 1, [0x033] = K | 1, [0x034] = Q, [0x035] = K | BY_73, [VIADD] = K | 1, [0x037] = K | 8,
    [0x03b] = K | 4, [0x03c] = K | 4, [0x03e] = K | 1, [0x03f] = K | 8, [0x040] = K | 1, [0x044] = K, [0x045] = K | 1,
    [0x046] = K | 1, [0x048] = K | 1, [0x04c] = K, [0x076] = K | 1, [0x07a] = K | 4, [0x100] = K | 1, [0x101] = K | 1,
    [0x102] = P, [0x104] = K | 1, [0x105] = K | 1, [0x106] = K | 1, [0x107] = K | 1, [0x108] = K | 1, [0x109] = K | 1,
    [0x110] = K | 2, [0x111] = K | 2, [0x112] = K | 2, [0x113] = K | 2, [0x118] = K, [0x119] = K | 1, [0x11a] = K,
    [0x11b] = K, [0x11c] = P | 1, [0x11d] = K, [0x140] = K, [0x141] = K, [0x142] = K, [0x145] = K, [0x146] = K,
    [0x147] = K, [0x148] = K, [0x14d] = K, [0x14e] = K | 2, [0x150] = K, [0x152] = K, [0x155] = K | 1, [0x156] = K,
    [0x15c] = K, [0x15d] = K, [0x180] = K | BY_SIZE, [0x181] = P | BY_SIZE, [0x182] = K | BY_SIZE,
    [0x183] = K | BY_SIZE, [0x184] = K | BY_SIZE, [0x185] = K, [0x186] = K, [0x187] = K, [0x188] = K, [0x189] = P | 1,
    [0x18a] = P | 4, [0x18b] = P | 4, [0x18c] = P | 4, [0x18d] = P | 4, [0x18e] = K, [0x18f] = K, [0x192] = K,
    [0x19d] = K, [0x1a1] = P | 1, [0x1a2] = P | 4, [0x1a3] = P | 4, [0x1a5] = K | 4, [0x1a6] = K, [0x1a7] = P | 2,
    [0x1a8] = P | 4, [0x1a9] = P | 4, [0x1aa] = P, [0x1ab] = K, [0x1ae] = K, [0x1af] = K, [0x1b0] = K, [0x1b1] = K,
    [0x1b7] = K, [0x1bd] = K, [0x1c5] = K, [0x1c6] = K, [0x1ed] = K, [0x1ee] = K | ALL_ON, [0x1f0] = K | ALL_ON,
    [0x1f1] = K | ALL_ON, [0x1f2] = K | ALL_ON, [0x1f3] = K | ALL_ON,
    /* of the uniform datapath */
    [ELECT] = U | P | 1, [0x04a] = U | 1, [0x051] = U | 1, [0x053] = U | Q, [0x054] = U | 1, [0x055] = U | 1,
    [0x056] = U | 1, [0x05a] = U | 4, [0x05c] = U | 1, [0x05e] = U | 1, [0x082] = U | BY_FORM, [0x083] = U | 1,
    [0x085] = U | P | 2, [0x086] = U | P | 1, [0x087] = U | 2, [0x08c] = U | Q, [0x090] = U | Q | 1,
    [0x091] = U | P | 1, [0x092] = U | P | 1, [0x096] = U | 2, [0x097] = U | Q | 2, [0x099] = U | 1, [0x09a] = U | 1,
    [0x09b] = U | 1, [0x09c] = U | Q, [0x0a4] = U | P | 1, [0x0a5] = U | P | 2, [0x0a6] = U | P | 2,
    [0x0a7] = U | P | 2, [0x0b9] = U | BY_SIZE, [0x0bb] = U | 4, [0x0bd] = U | P | 2, [0x0be] = U | 1, [0x0bf] = U | 2,
    [0x0ca] = U | P | 1, [0x0cb] = U | 4, [0x0cc] = U | 1, [0x1ac] = U | BY_SIZE, [0x1b2] = U | 2, [0x1b4] = U,
    [0x1b5] = U, [0x1b9] = U, [0x1ba] = U, [0x1c2] = U | 1, [0x1c3] = U | 1, [0x1c4] = U | 1, [0x1c7] = U,
    [0x1c8] = U | P, [0x1c9] = U, [0x1e9] = U, [0x1ea] = U,
};
/* clang-format on */

/* From FIRST_OF_FLOW on. */
static const uint8_t flows[32] = {
    [0x00] = GMOD_FLOW_ON,     [0x01] = GMOD_FLOW_MET,   [0x02] = GMOD_FLOW_ON, [0x03] = GMOD_FLOW_CALL,
    [0x04] = GMOD_FLOW_CALL,   [0x05] = GMOD_FLOW_MEET,  [0x06] = GMOD_FLOW_ON, [0x07] = GMOD_FLOW_BRANCH,
    [0x08] = GMOD_FLOW_BRANCH, [0x0d] = GMOD_FLOW_LEAVE, [0x0e] = GMOD_FLOW_ON, [0x10] = GMOD_FLOW_LEAVE,
    [0x12] = GMOD_FLOW_ON,     [0x15] = GMOD_FLOW_ON,    [0x16] = GMOD_FLOW_ON, [0x1c] = GMOD_FLOW_LEAVE,
    [0x1d] = GMOD_FLOW_ON,
};

unsigned gmod_effect_of(const uint64_t words[2])
{
	return effects[gmod_bits(words, 0, GMOD_OPCODE_BITS)];
}

unsigned gmod_width_of(const uint64_t words[2])
{
	static const uint8_t of_sizes[8] = {1, 1, 1, 1, 1, 2, 4, 8};
	unsigned form = gmod_bits(words, GMOD_OPCODE_BITS, 3), width = gmod_effect_of(words) & WIDTH;

	if (width == ALL_ON)
		return GMOD_UNIFORM;
	if (width == BY_SIZE)
		return of_sizes[gmod_bits(words, 73, 3)];
	if (width == BY_73)
		return 1 + gmod_bits(words, 73, 1);
	if (width == BY_FORM)
		return gmod_bits(words, 80, 1) || form == 2 || form == 3 || form == 7 ? 2 : 1;
	return width;
}

bool gmod_is_zero_uniform(unsigned number, unsigned capability)
{
	return number == (capability >= URZ_255 ? GMOD_NO_REGISTER : 63);
}

enum gmod_flow gmod_flow_of(const uint64_t words[2])
{
	unsigned number = gmod_bits(words, 0, GMOD_OPCODE_BITS) - FIRST_OF_FLOW;

	return number < sizeof(flows) ? (enum gmod_flow)flows[number] : GMOD_FLOW_ON;
}

/* Relative to the next instruction, in units of 4 bytes: 30 bits; of branches and calls 18 bits more, and 8 below. */
uint64_t gmod_target_of(const uint64_t words[2], unsigned capability, uint64_t at)
{
	enum gmod_flow flow = gmod_flow_of(words);
	int64_t units = (int64_t)words[0] >> 34;

	if (gmod_bits(words, 0, GMOD_OPCODE_BITS) == CALL_ABSOLUTE ||
	    (flow != GMOD_FLOW_BRANCH && flow != GMOD_FLOW_MEET && flow != GMOD_FLOW_CALL))
		return 0;
	if (flow != GMOD_FLOW_MEET)
		units = (int64_t)((words[0] >> 34 | words[1] << 30) << 16) >> 16;
	if (flow != GMOD_FLOW_MEET && capability >= LONG_BRANCHES)
		units = (int64_t)((uint64_t)units << 8 | gmod_bits(words, 16, 8));
	return at + GMOD_SASS_STEP + (uint64_t)units * 4;
}

bool gmod_is_between(const uint64_t words[2])
{
	unsigned opcode = gmod_bits(words, 0, GMOD_OPCODE_BITS);

	return gmod_effect_of(words) & GMOD_EFFECT_UNIFORM &&
	       (opcode == ELECT || opcode == VOTEU || (opcode >= FIRST_BETWEEN && opcode != GMOD_LDCU));
}

bool gmod_may_write(const uint64_t words[2], unsigned capability, unsigned id)
{
	unsigned effect = gmod_effect_of(words), first = gmod_bits(words, 16, 8), number = id % GMOD_UNIFORM;
	unsigned opcode = gmod_bits(words, 0, GMOD_OPCODE_BITS);
	bool is_uniform = effect & GMOD_EFFECT_UNIFORM;

	if (!effect || (opcode == VIADD && capability < GMOD_VIADD_FROM))
		return true;
	if (opcode == R2P) /* those that its mask names */
		return id >= GMOD_PREDICATE && id < GMOD_UNIFORM_PREDICATE;
	if (id >= GMOD_PREDICATE)
		return (is_uniform == (id >= GMOD_UNIFORM_PREDICATE) || gmod_is_between(words)) &&
		       ((effect & GMOD_EFFECT_PREDICATES && gmod_bits(words, 81, 3) == id % 8) ||
			(effect & GMOD_EFFECT_TWO_PREDICATES && gmod_bits(words, 84, 3) == id % 8));
	if (is_uniform != (id >= GMOD_UNIFORM) ||
	    (is_uniform ? gmod_is_zero_uniform(first, capability) : first == GMOD_NO_REGISTER))
		return false;
	return number >= first && number - first < gmod_width_of(words);
}
