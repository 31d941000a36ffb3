/*
 * Addresses of instructions that faulted: of lanes that real dumps have, where the kernels' source says what each
 * thread accesses; of short programs for each rule; and of dumps and code that are damaged.
 */
#define gmod_fault_address compute_address
#include "lib/faults/address.c" // NOLINT(bugprone-suspicious-include): the test stands in front of it
#undef gmod_fault_address

#include "lib/faults/dump.h"
#include "tests/unit/fault_dumps.h"

enum { CAPABILITY = 90, PARAMETERS_AT = 0x210, UNKNOWN_DISTANCE = INT32_MAX };

/*
 * By what places.cu says: how far from the first parameter, which is the end of a mapping; of the first lane and the
 * last. Unknown: the pointer or the index is of an earlier round of a loop, of a caller, from memory, or of one of two
 * paths.
 */
static const struct {
	const char *kernel;
	int64_t distances[2];
} accesses[] = {
    {"load", {-124, 0}},
    {"load_loop", {UNKNOWN_DISTANCE, UNKNOWN_DISTANCE}},
    {"load_wide", {2048, 2544}},
    {"load_narrow", {-31, 0}},
    {"load_double", {-248, 0}},
    {"inline_load", {-124, 0}},
    {"called_load", {UNKNOWN_DISTANCE, UNKNOWN_DISTANCE}},
    {"load_readonly", {-124, 0}},
    {"load_matrix", {0, 124}},
    {"load_far", {0x8000000, 0x100000000}},
    {"load_null", {UNKNOWN_DISTANCE, UNKNOWN_DISTANCE}},
    {"load_table", {UNKNOWN_DISTANCE, UNKNOWN_DISTANCE}},
    {"load_generic", {-124, 0}},
    {"store_wide", {2048, 2544}},
    {"store_stay", {-124, 0}},
    {"add_answer", {-124, 0}},
    {"exchange", {-248, 0}},
    {"misaligned", {-1280, -1187}},
    {"scaled", {-124, 0}},
};

enum { LANES = 2 * SIZE_OF(accesses), CODE_BYTES = 4096, REGISTERS_DAMAGED = 12 };

/* What lib/faults/dump.c has of a lane. */
static struct asked {
	struct gmod_code code;
	struct gmod_lane_state state;
	uint64_t pc;
} asked[GMOD_FAULT_LANES];
static unsigned asked_count;

bool gmod_fault_address(const struct gmod_code *code, uint64_t pc, const struct gmod_operand *operand,
			const struct gmod_lane_state *lane, uint64_t *address)
{
	assert_true(asked_count < GMOD_FAULT_LANES);
	asked[asked_count++] = (struct asked){*code, *lane, pc};
	return compute_address(code, pc, operand, lane, address);
}

/* A lane of a dump, to be damaged. */
struct lane {
	struct gmod_code code;
	struct gmod_lane_state state;
	unsigned char bytes[CODE_BYTES];
	uint32_t registers[256], parameters[16];
	uint64_t pc;
	bool is_known;
	uint64_t address;
};

static struct gmod_bytes copied(void *to, size_t room, struct gmod_bytes from)
{
	CHECK(from.size <= room, "%zu bytes", from.size);
	memcpy(to, from.at, from.size);
	return (struct gmod_bytes){to, from.size};
}

static void set_lane(struct lane *l, size_t number)
{
	static struct asked lanes[LANES];
	static struct gmod_fault faults[SIZE_OF(accesses)];
	struct gmod_fault *f = &faults[number / 2];
	const struct asked *lane = &lanes[number];
	int64_t distance = accesses[number / 2].distances[number % 2];

	if (!f->kernel) {
		struct dump d = read_dump(accesses[number / 2].kernel);

		asked_count = 0;
		assert_null(gmod_dump_read(d.bytes, d.size, f));
		assert_int_equal(asked_count, GMOD_FAULT_LANES);
		lanes[number / 2 * 2] = asked[0];
		lanes[number / 2 * 2 + 1] = asked[GMOD_FAULT_LANES - 1];
	}
	*l = (struct lane){.code = lane->code, .state = lane->state, .pc = lane->pc};
	l->code.bytes = copied(l->bytes, sizeof(l->bytes), l->code.bytes);
	l->state.registers = copied(l->registers, sizeof(l->registers), l->state.registers);
	l->state.parameters = copied(l->parameters, sizeof(l->parameters), l->state.parameters);
	l->is_known = distance != UNKNOWN_DISTANCE;
	if (l->is_known) {
		memcpy(&l->address, l->parameters, sizeof(l->address));
		l->address += (uint64_t)distance;
	}
}

static bool address_of(const struct lane *l, uint64_t *address)
{
	struct gmod_operand operand;
	uint64_t words[2];

	*address = 0;
	return gmod_read(l->code.bytes, l->pc - l->code.address, words, sizeof(words)) &&
	       gmod_sass_operand(words, l->code.capability, &operand) &&
	       compute_address(&l->code, l->pc, &operand, &l->state, address);
}

TEST(lanes_of_dumps_have_the_addresses_that_the_source_says)
{
	struct lane l;
	uint64_t address;

	for (size_t lane = 0; lane < LANES; lane++) {
		set_lane(&l, lane);
		CHECK(address_of(&l, &address) == l.is_known, "%s", accesses[lane / 2].kernel);
		if (l.is_known)
			CHECK(address == l.address, "%s: %#lx, not %#lx", accesses[lane / 2].kernel, address,
			      l.address);
	}
}

/* What the registers have does not matter where the thread has gone on to a place that is not straight ahead. */
TEST(a_thread_that_is_elsewhere_has_an_address_from_parameters_or_none)
{
	struct lane l;
	uint64_t address;
	unsigned known = 0;

	for (size_t lane = 0; lane < LANES; lane++) {
		set_lane(&l, lane);
		l.state.virtual_pc = l.code.address;
		memset(l.registers, 0x5a, sizeof(l.registers));
		if (address_of(&l, &address)) {
			CHECK(address == l.address, "%s: %#lx", accesses[lane / 2].kernel, address);
			known++;
		}
	}
	assert_int_equal(known, 2 * 15);
}

static uint64_t random_state = 1;

static unsigned number_below(unsigned end)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((random_state >> 33) % end);
}

/* All that these kernels compute comes from parameters, so that a register which is not as computed is noticed. */
TEST(a_damaged_register_never_makes_a_wrong_address)
{
	struct lane l;
	uint64_t address;
	unsigned refused = 0;

	for (unsigned i = 0; i < 10000; i++) {
		unsigned bit;

		set_lane(&l, number_below(LANES));
		bit = number_below(32 * REGISTERS_DAMAGED);
		l.registers[bit / 32] ^= 1U << bit % 32;
		if (address_of(&l, &address))
			CHECK(l.is_known && address == l.address, "%u: %#lx", i, address);
		else
			refused += l.is_known;
	}
	assert_in_range(refused, 1000, 4000);
}

/* Code that is not what ran can say anything; but often a register says otherwise. */
TEST(damaged_code_is_read_without_harm)
{
	struct lane l;
	uint64_t address;
	unsigned wrong = 0;

	for (unsigned i = 0; i < 10000; i++) {
		unsigned bit;

		set_lane(&l, number_below(LANES));
		bit = number_below((unsigned)(l.pc + 16 - l.code.address) * 8);
		l.bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
		wrong += address_of(&l, &address) && address != l.address;
	}
	print_message("%u of 10000 damaged codes make a wrong address\n", wrong);
	assert_in_range(wrong, 0, 700);
}

/* What is behind the instruction is left out, and a part of registers and parameters. */
TEST(what_is_missing_is_not_read)
{
	struct lane l;
	uint64_t address;

	for (size_t lane = 0; lane < LANES; lane++) {
		set_lane(&l, lane);
		for (unsigned i = 0; i < 64; i++) {
			size_t size = l.pc + 16 - l.code.address;
			void *code = malloc(size);
			struct lane cut = l;

			cut.code.bytes = (struct gmod_bytes){memcpy(code, l.bytes, size), size};
			cut.state.registers.size = i & 1 ? number_below((unsigned)l.state.registers.size) : 0;
			cut.state.parameters.size = i & 2 ? number_below((unsigned)l.state.parameters.size) : 0;
			if (address_of(&cut, &address) && l.is_known)
				CHECK(address == l.address, "%s: %#lx", accesses[lane / 2].kernel, address);
			free(code);
		}
	}
}

/* ---- one rule each ---- */

enum operation {
	NONE,
	NOP,
	EXIT,
	POINTER,
	ADD,
	MAYBE_ADD,
	NEVER_ADD,
	LOAD,
	LOAD_OVER,
	STORE,
	BRANCH,
	MAYBE,
	CALL,
	JUMP,
	PART,
	MAYBE_EXIT,
	WAIT_FOR_GRID,
	OWN_PC,
	MATRICES,
	MATRICES_OVER,
	ELECTION,
	BARRIER
};

static const uint64_t operations[][2] = {
    [NOP] = {0x0000000000007918, 0x000fc00000000000},           [EXIT] = {0x000000000000794d, 0x000fea0003800000},
    [POINTER] = {0x00008400ff027b82, 0x000e220000000a00},   /* LDC.64 R2, c[0x0][0x210] */
    [ADD] = {0x0000001002027836, 0x000fca0000000000},       /* VIADD R2, R2, 0x10 */
    [MAYBE_ADD] = {0x0000001002020836, 0x000fca0000000000}, /* @P0 VIADD R2, R2, 0x10 */
    [NEVER_ADD] = {0x000000100202f836, 0x000fca0000000000}, /* @!PT VIADD R2, R2, 0x10 */
    [LOAD] = {0x0000000402057981, 0x000ea8000c1e1900},      /* LDG.E R5, [R2.64] */
    [LOAD_OVER] = {0x0000000402027981, 0x000ea2000c1e1900}, /* LDG.E R2, [R2.64] */
    [STORE] = {0x0000000502007986, 0x004fe2000c101904},     /* STG.E [R2.64], R5 */
    [BRANCH] = {0x0000000000007947, 0x000fea0003800000},        [MAYBE] = {0x0000000000000947, 0x000fea0003800000},
    [CALL] = {0x0000000000007944, 0x000fea0003c00000},          /* CALL.REL */
    [JUMP] = {0x0000000012007949, 0x000fea0003800000},          /* BRX R18 */
    [PART] = {0x0000000000007945, 0x000fe20003800000},          /* BSSY B0 */
    [MAYBE_EXIT] = {0x000000000000094d, 0x000fea0003800000},    /* @P0 EXIT */
    [WAIT_FOR_GRID] = {0x000000000000782e, 0x000fcc0000000000}, /* ACQBULK */
    [OWN_PC] = {0x000000000014734e, 0x000fe20000000000},        /* LEPC R20 */
    [MATRICES] = {0x01e00000081879f0, 0x000fe60008000818},      /* HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0 */
    [MATRICES_OVER] = {0x01e00000080079f0, 0x000fe60008000800}, /* the same into R0 to R63 */
    [ELECTION] = {0x000000000007782f, 0x000fc40003800000},      /* ELECT P0, UR7, PT */
    [BARRIER] = {0x00000004063f75b2, 0x0002220008000100},       /* SYNCS.EXCH.64 URZ, [UR6], UR4 */
};

enum found { NOTHING, PARAMETER, REGISTERS, NOTHING_IF_PARTED };

enum { ELSEWHERE = 99 };

static const struct rule {
	const char *name;
	enum operation code[8];
	unsigned target; /* of the one that has a target */
	unsigned pc, virtual_pc;
	bool is_other; /* the registers are not as the parameter */
	enum found found;
} rules[] = {
    {"a register that survives", {NOP, LOAD, NOP, EXIT}, 0, 1, 2, true, REGISTERS},
    {"one that is as computed", {POINTER, LOAD, NOP, EXIT}, 0, 1, 2, false, PARAMETER},
    {"one that is not as computed", {POINTER, LOAD, NOP, EXIT}, 0, 1, 2, true, NOTHING},
    {"one that is lost", {NOP, LOAD_OVER, NOP, EXIT}, 0, 1, 2, true, NOTHING},
    {"one that is lost, and the thread stays", {NOP, LOAD_OVER, NOP, EXIT}, 0, 1, 1, true, NOTHING},
    {"one that is lost and computed", {POINTER, LOAD_OVER, NOP, EXIT}, 0, 1, 2, false, PARAMETER},
    {"the other half is not as computed", {POINTER, LOAD_OVER, NOP, EXIT}, 0, 1, 2, true, NOTHING},
    {"one that may change later", {NOP, LOAD, ADD, NOP, EXIT}, 0, 1, 3, true, NOTHING},
    {"one that changes only behind the virtual PC", {NOP, LOAD, NOP, ADD, EXIT}, 0, 1, 3, true, REGISTERS},
    {"a write with a guard", {POINTER, MAYBE_ADD, LOAD_OVER, NOP, EXIT}, 0, 2, 3, false, NOTHING},
    {"a write that a guard holds back", {POINTER, NEVER_ADD, LOAD_OVER, NOP, EXIT}, 0, 2, 3, false, PARAMETER},
    {"such a write in a loop", {POINTER, NEVER_ADD, LOAD_OVER, NOP, MAYBE, EXIT}, 1, 2, 3, false, NOTHING},
    {"two paths", {POINTER, MAYBE, ADD, LOAD_OVER, NOP, EXIT}, 3, 3, 4, false, NOTHING},
    {"two paths, and no write on either", {POINTER, MAYBE, NOP, LOAD_OVER, NOP, EXIT}, 3, 3, 4, false, PARAMETER},
    {"a path that leaves out the writer", {MAYBE, POINTER, LOAD_OVER, NOP, EXIT}, 2, 2, 3, false, NOTHING},
    {"a path that comes from behind", {POINTER, LOAD_OVER, NOP, BRANCH}, 1, 1, 2, false, NOTHING},
    {"a loop that changes nothing", {POINTER, LOAD, MAYBE, EXIT}, 1, 1, ELSEWHERE, true, PARAMETER},
    {"a loop that changes it", {POINTER, LOAD, ADD, MAYBE, EXIT}, 1, 1, ELSEWHERE, true, NOTHING},
    {"a call before", {POINTER, CALL, LOAD_OVER, NOP, EXIT}, 4, 2, 3, false, NOTHING},
    {"a call behind", {POINTER, LOAD, CALL, EXIT}, 3, 1, 3, true, PARAMETER},
    {"a function that is called", {CALL, EXIT, LOAD_OVER, NOP, EXIT}, 2, 2, 3, false, NOTHING},
    {"a jump to nobody knows where", {POINTER, LOAD, NOP, JUMP}, 0, 1, 2, false, NOTHING},
    {"where threads meet", {POINTER, PART, NOP, LOAD_OVER, NOP, EXIT}, 3, 3, 4, false, NOTHING},
    {"where they meet later", {POINTER, PART, NOP, LOAD_OVER, NOP, EXIT}, 5, 3, 4, false, PARAMETER},
    {"a virtual PC elsewhere", {NOP, LOAD, NOP, EXIT}, 0, 1, ELSEWHERE, true, NOTHING},
    {"a branch before the virtual PC", {NOP, LOAD, MAYBE, NOP, EXIT}, 4, 1, 3, true, REGISTERS},
    {"one where the warp has parted", {NOP, LOAD, MAYBE, NOP, EXIT}, 4, 1, 3, true, NOTHING_IF_PARTED},
    {"a wait for the grid before", {POINTER, WAIT_FOR_GRID, LOAD_OVER, NOP, EXIT}, 0, 2, 3, false, PARAMETER},
    {"a thread that asks where it is", {POINTER, LOAD_OVER, NOP, OWN_PC, EXIT}, 0, 1, 2, false, PARAMETER},
    {"a product of matrices before", {POINTER, MATRICES, LOAD_OVER, NOP, EXIT}, 0, 2, 3, false, PARAMETER},
    {"one that may reach it", {POINTER, MATRICES_OVER, LOAD_OVER, NOP, EXIT}, 0, 2, 3, false, NOTHING},
    {"an election before", {POINTER, ELECTION, LOAD_OVER, NOP, EXIT}, 0, 2, 3, false, PARAMETER},
    {"a barrier that is made before", {POINTER, BARRIER, LOAD_OVER, NOP, EXIT}, 0, 2, 3, false, PARAMETER},
    {"a branch to it", {NOP, LOAD, MAYBE, NOP, NOP, EXIT}, 4, 1, 4, true, REGISTERS},
    {"a branch over a write", {NOP, LOAD, MAYBE, ADD, NOP, EXIT}, 4, 1, 4, true, NOTHING},
    {"a branch back", {NOP, LOAD, NOP, MAYBE, NOP, EXIT}, 0, 1, 4, true, NOTHING},
    {"a branch back to the load", {NOP, LOAD, NOP, MAYBE, NOP, EXIT}, 1, 1, 4, true, NOTHING},
    {"a loop before the virtual PC", {NOP, LOAD, NOP, MAYBE, NOP, EXIT}, 2, 1, 4, true, REGISTERS},
    {"such a loop with a write", {NOP, LOAD, ADD, MAYBE, NOP, EXIT}, 2, 1, 4, true, NOTHING},
    {"a branch to behind the load", {MAYBE, LOAD, NOP, NOP, EXIT}, 2, 1, 3, true, NOTHING},
    {"an exit for others", {NOP, LOAD, MAYBE_EXIT, NOP, EXIT}, 0, 1, 3, true, REGISTERS},
    {"an exit for all", {NOP, LOAD, EXIT, NOP, EXIT}, 0, 1, 3, true, NOTHING},
    {"threads that will meet", {NOP, LOAD, PART, NOP, NOP, EXIT}, 5, 1, 4, true, REGISTERS},
    {"threads that may have met", {NOP, LOAD, PART, NOP, NOP, EXIT}, 4, 1, 4, true, NOTHING},
    {"a store and a branch", {NOP, STORE, MAYBE, NOP, EXIT}, 4, 1, 3, true, NOTHING},
    {"a virtual PC in a later loop", {NOP, LOAD, NOP, MAYBE, EXIT}, 2, 1, 2, true, NOTHING},
    {"a load in a loop", {NOP, LOAD, ADD, MAYBE, EXIT}, 1, 1, 2, true, REGISTERS},
    {"a load in a loop that is run again", {NOP, LOAD, ADD, MAYBE, EXIT}, 1, 1, 1, true, NOTHING},
    {"a store", {NOP, STORE, NOP, EXIT}, 0, 1, 2, true, REGISTERS},
    {"a store in a loop", {NOP, STORE, ADD, MAYBE, EXIT}, 0, 1, 2, true, NOTHING},
    {"a store in a function", {CALL, EXIT, STORE, NOP, EXIT}, 2, 2, 3, true, NOTHING},
};

TEST(each_rule_holds)
{
	enum { AT = 0x10000 };
	static const uint64_t parameter = 0x7f0012340000, other = 0x7e0056780000;

	for (const struct rule *r = rules; r < rules + SIZE_OF(rules); r++) {
		uint64_t words[8][2] = {{0}}, registers[2] = {0, r->is_other ? other : parameter}, address;
		struct lane l = {
		    .code = {{(unsigned char *)words, 0}, AT, CAPABILITY},
		    .pc = AT + r->pc * 16,
		    .state = {.virtual_pc = AT + r->virtual_pc * 16,
			      .have_parted = r->found == NOTHING_IF_PARTED,
			      .registers = {(unsigned char *)registers, sizeof(registers)},
			      .parameters = {(const unsigned char *)&parameter, sizeof(parameter)},
			      .parameters_at = PARAMETERS_AT},
		};
		bool is_found;

		for (unsigned i = 0; i < 8 && r->code[i]; i++, l.code.bytes.size += 16) {
			uint64_t units = ((uint64_t)r->target - i - 1) * 4;

			memcpy(words[i], operations[r->code[i]], 16);
			if (r->code[i] == PART)
				words[i][0] |= units << 34;
			else if (r->code[i] >= BRANCH && r->code[i] <= CALL) {
				words[i][0] |= (units & 0xff) << 16 | units >> 8 << 34;
				words[i][1] |= units >> 38 & 0x3ffff;
			}
		}
		if (r->code[r->pc] == LOAD_OVER)
			registers[1] &= ~(uint64_t)UINT32_MAX;
		is_found = address_of(&l, &address);
		CHECK(is_found == (r->found == PARAMETER || r->found == REGISTERS), "%s: %#lx", r->name, address);
		if (is_found)
			CHECK(address == (r->found == REGISTERS ? other : parameter), "%s: %#lx", r->name, address);
	}
}
