/*
 * Addresses of instructions that faulted: of lanes that real dumps have, where the kernels' source says what each
 * thread accesses; of short programs for each rule; and of dumps and code that are damaged.
 */
#include "lib/faults/address.h"
#include "tests/unit/fault_lanes.h"
#include "tests/unit/support.h"

enum { CAPABILITY = 90, PARAMETERS_AT = 0x210, UNKNOWN_DISTANCE = INT32_MAX };

/*
 * By what places.cu says: how far from the first parameter, which is the end of a mapping. In shared memory, from 0.
 * Unknown: the pointer or the index is of an earlier round of a loop, of a caller, from memory, or of one of two paths.
 */
static const struct {
	const char *kernel;
	int64_t distances[2];
} accesses[] = {
    {"load", {-124, 0}},
    {"load_loop", {UNKNOWN_DISTANCE, UNKNOWN_DISTANCE}},
    {"load_wide", {2048, 1520}},
    {"load_narrow", {-31, 0}},
    {"load_double", {-248, 0}},
    {"inline_load", {-124, 0}},
    {"called_load", {UNKNOWN_DISTANCE, UNKNOWN_DISTANCE}},
    {"load_readonly", {-124, 0}},
    {"load_matrix", {0, 508}},
    {"load_far", {0x8000000, -0x100000000}},
    {"load_null", {UNKNOWN_DISTANCE, UNKNOWN_DISTANCE}},
    {"load_table", {UNKNOWN_DISTANCE, UNKNOWN_DISTANCE}},
    {"load_generic", {-124, 0}},
    {"store_wide", {2048, 1520}},
    {"store_stay", {-124, 0}},
    {"add_answer", {-124, 0}},
    {"exchange", {-248, 0}},
    {"misaligned", {-1280, -1379}},
    {"shared_range", {0x8000400, 0x800047c}},
    {"scaled", {-124, 0}},
};

/* A lane of a dump, to be damaged. */
struct lane {
	struct gmod_code code;
	struct gmod_lane_state state;
	uint64_t words[52][2], pc;
	uint32_t registers[12], uniform[16], parameters[6];
	bool is_known;
	uint64_t address;
};

static void set_lane(struct lane *l, size_t lane)
{
	size_t number = lane / 2, which = lane % 2;
	const struct fault_lane *f = &fault_lanes[number];
	int64_t distance = accesses[number].distances[which];

	assert_string_equal(f->kernel, accesses[number].kernel);
	memset(l, 0, sizeof(*l));
	memcpy(l->words, f->code, sizeof(l->words));
	memcpy(l->registers, f->lanes[which].registers, sizeof(l->registers));
	memcpy(l->uniform, f->lanes[which].uniform, sizeof(l->uniform));
	memcpy(l->parameters, f->parameters, sizeof(l->parameters));
	l->pc = f->code_at + f->pc;
	l->code = (struct gmod_code){l->words, f->code_at, f->instructions * sizeof(l->words[0]), CAPABILITY};
	l->state = (struct gmod_lane_state){
	    .virtual_pc = f->code_at + f->virtual_pc,
	    .registers = l->registers,
	    .register_count = SIZE_OF(l->registers),
	    .uniform = l->uniform,
	    .uniform_count = SIZE_OF(l->uniform),
	    .lane = f->lanes[which].lane,
	    .block_size = {32, 2, 1},
	    .grid = {4, 2, 1},
	    .parameters = l->parameters,
	    .parameter_bytes = sizeof(l->parameters),
	    .parameters_at = PARAMETERS_AT,
	};
	memcpy(l->state.thread, f->lanes[which].thread, sizeof(l->state.thread));
	memcpy(l->state.block, f->lanes[which].block, sizeof(l->state.block));
	l->is_known = distance != UNKNOWN_DISTANCE;
	if (l->is_known && strcmp(f->kernel, "shared_range") != 0)
		memcpy(&l->address, f->parameters, sizeof(l->address));
	l->address += l->is_known ? (uint64_t)distance : 0;
}

static bool address_of(const struct lane *l, uint64_t *address)
{
	struct gmod_operand operand;
	uint64_t words[2];

	memcpy(words, (const char *)l->code.bytes + (l->pc - l->code.address), sizeof(words));
	*address = 0;
	return gmod_sass_operand(words, l->code.capability, &operand) &&
	       gmod_fault_address(&l->code, l->pc, &operand, &l->state, address);
}

enum { LANES = 2 * SIZE_OF(fault_lanes) };

TEST(lanes_of_dumps_have_the_addresses_that_the_source_says)
{
	struct lane l;
	uint64_t address;

	assert_int_equal(SIZE_OF(accesses), SIZE_OF(fault_lanes));
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
		memset(l.uniform, 0x5a, sizeof(l.uniform));
		if (address_of(&l, &address)) {
			CHECK(address == l.address, "%s: %#lx", accesses[lane / 2].kernel, address);
			known++;
		}
	}
	/* Not that of shared memory, which the GPU has put somewhere, and that is in a register only. */
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
		bit = number_below(8 * (sizeof(l.registers) + sizeof(l.uniform)));
		if (bit < 8 * sizeof(l.registers))
			l.registers[bit / 32] ^= 1U << bit % 32;
		else
			l.uniform[bit / 32 - SIZE_OF(l.registers)] ^= 1U << bit % 32;
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
		bit = number_below((unsigned)l.code.size * 8);
		((unsigned char *)l.words)[bit / 8] ^= (unsigned char)(1U << bit % 8);
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
			void *code = malloc(l.pc + 16 - l.code.address);
			struct lane cut = l;

			cut.code.size = l.pc + 16 - l.code.address;
			cut.code.bytes = memcpy(code, l.words, cut.code.size);
			cut.state.register_count = i & 1 ? number_below(SIZE_OF(l.registers)) : 0;
			cut.state.uniform_count = i & 2 ? number_below(SIZE_OF(l.uniform)) : 0;
			cut.state.parameter_bytes = i & 4 ? number_below(sizeof(l.parameters)) : 0;
			cut.state.registers = cut.state.register_count ? l.registers : NULL;
			cut.state.uniform = cut.state.uniform_count ? l.uniform : NULL;
			cut.state.parameters = cut.state.parameter_bytes ? l.parameters : NULL;
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
	PART
};

static const uint64_t operations[][2] = {
    [NOP] = {0x0000000000007918, 0x000fc00000000000},       [EXIT] = {0x000000000000794d, 0x000fea0003800000},
    [POINTER] = {0x00008400ff027b82, 0x000e220000000a00},   /* LDC.64 R2, c[0x0][0x210] */
    [ADD] = {0x0000001002027836, 0x000fca0000000000},       /* VIADD R2, R2, 0x10 */
    [MAYBE_ADD] = {0x0000001002020836, 0x000fca0000000000}, /* @P0 VIADD R2, R2, 0x10 */
    [NEVER_ADD] = {0x000000100202f836, 0x000fca0000000000}, /* @!PT VIADD R2, R2, 0x10 */
    [LOAD] = {0x0000000402057981, 0x000ea8000c1e1900},      /* LDG.E R5, [R2.64] */
    [LOAD_OVER] = {0x0000000402027981, 0x000ea2000c1e1900}, /* LDG.E R2, [R2.64] */
    [STORE] = {0x0000000502007986, 0x004fe2000c101904},     /* STG.E [R2.64], R5 */
    [BRANCH] = {0x0000000000007947, 0x000fea0003800000},    [MAYBE] = {0x0000000000000947, 0x000fea0003800000},
    [CALL] = {0x0000000000007944, 0x000fea0003c00000}, /* CALL.REL */
    [JUMP] = {0x0000000012007949, 0x000fea0003800000}, /* BRX R18 */
    [PART] = {0x0000000000007945, 0x000fe20003800000}, /* BSSY B0 */
};

enum found { NOTHING, PARAMETER, REGISTERS };

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
    {"a branch before the virtual PC", {NOP, LOAD, MAYBE, NOP, EXIT}, 4, 1, 3, true, NOTHING},
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
		    .code = {words, AT, 0, CAPABILITY},
		    .pc = AT + r->pc * 16,
		    .state = {.virtual_pc = AT + r->virtual_pc * 16,
			      .registers = registers,
			      .register_count = 4,
			      .parameters = &parameter,
			      .parameter_bytes = sizeof(parameter),
			      .parameters_at = PARAMETERS_AT},
		};
		bool is_found;

		for (unsigned i = 0; i < 8 && r->code[i]; i++, l.code.size += 16) {
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
		CHECK(is_found == (r->found != NOTHING), "%s: %#lx", r->name, address);
		if (is_found)
			CHECK(address == (r->found == REGISTERS ? other : parameter), "%s: %#lx", r->name, address);
	}
}
