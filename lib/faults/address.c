/*
 * How a register's value is found. value_before() looks for the last instruction that wrote it, computes its operands
 * in the same way, and compares what comes out with the dump where the register has survived.
 *
 * "The last that wrote it" needs a proof, because a register may reach an instruction on more than one path. The proof
 * is a span of code that begins behind the writer and is entered nowhere else: each branch into it comes from inside
 * of it, and the span is made longer until that is so. This is why the code has to be a whole section. If nothing in
 * the span writes the register, its value comes from the writer's last run, whatever loops there are. Such a span from
 * an instruction to the thread's virtual PC proves that a register has the value that the instruction found.
 */
#include "lib/faults/address.h"

#include "lib/faults/effect.h"

enum {
	STEP = GMOD_SASS_STEP,
	ALWAYS = 7,           /* the predicate that is true */
	FARTHEST = 0x200,     /* from an instruction to the thread's virtual PC */
	MOST_VALUES = 100,    /* that are looked for, */
	MOST_LOOKS = 1 << 23, /* and looks at instructions, for one address */
	BLACKWELL = 100,      /* has the sizes of block and grid elsewhere, and other instructions */
};

enum { FIRST_UNIFORM = 0x080, LAST_UNIFORM = 0x0bf }; /* opcodes */

struct walk {
	const struct gmod_code *code;
	const struct gmod_lane_state *lane;
	uint64_t dumped_at; /* where the registers are as the dump has them; 0: nowhere */
	bool is_refuted;    /* a value is not what the dump has */
	unsigned looks, values;
	struct value {
		uint64_t before;
		unsigned id;
		bool is_known;
		uint32_t value;
	} seen[MOST_VALUES];
};

/* An instruction whose operands are being read. */
struct reading {
	struct walk *walk;
	uint64_t words[2], at;
	bool failed, has_carry; /* what is above 32 bits of the result is the carry, or what a comparison says */
};

/* What stands at bit 32, and whether it is the second or the third operand. */
static unsigned form_of(const struct reading *r)
{
	return gmod_bits(r->words, GMOD_OPCODE_BITS, 3);
}

static bool is_guarded(const uint64_t words[2])
{
	return gmod_bits(words, 12, 4) != ALWAYS;
}

static bool is_uniform(const struct reading *r)
{
	return gmod_effect_of(r->words) & GMOD_EFFECT_UNIFORM;
}

/* false: it is not in the code, or enough has been looked at. */
static bool look_at(struct walk *w, uint64_t at, uint64_t words[2])
{
	return w->looks < MOST_LOOKS && ++w->looks && gmod_read(w->code->bytes, at - w->code->address, words, STEP);
}

/*
 * Is the value at the end that of the start? The code from start to end may not write it, nor may what is run in
 * between because it jumps back. Nothing else may jump to entry or behind it, up to the end; if straight, nothing may.
 */
static bool is_kept(struct walk *w, unsigned id, uint64_t start, uint64_t entry, uint64_t end, bool straight)
{
	unsigned capability = w->code->capability;
	uint64_t words[2], last = end;

	for (uint64_t at = w->code->address; look_at(w, at, words); at += STEP) {
		uint64_t target = gmod_target_of(words, capability, at);

		if (target < entry || target > last)
			continue;
		if (straight || at < start || gmod_flow_of(words) == GMOD_FLOW_MEET)
			return false;
		if (at >= end) {
			last = at;
			end = at + STEP;
			at = w->code->address - STEP;
		}
	}
	for (uint64_t at = start; at < end; at += STEP)
		if (!look_at(w, at, words) || gmod_may_write(words, capability, id) ||
		    (gmod_flow_of(words) == GMOD_FLOW_LEAVE && !is_guarded(words)))
			return false;
	return true;
}

/* ---- what an instruction reads ---- */

static bool value_before(struct walk *w, unsigned id, uint64_t at, uint32_t *value);

/* The value is of no use if that is so. */
static void fail_if(struct reading *r, bool is_unknown)
{
	r->failed = r->failed || is_unknown;
}

static uint32_t read_id(struct reading *r, unsigned id)
{
	uint32_t value = 0;

	fail_if(r, r->failed || !value_before(r->walk, id, r->at, &value));
	return value;
}

/* The word at that offset in constant bank 0. */
static uint32_t read_constant(struct reading *r, uint64_t offset)
{
	const struct gmod_lane_state *l = r->walk->lane;
	bool is_new = r->walk->code->capability >= BLACKWELL;
	uint32_t value = 0;

	fail_if(r, offset % sizeof(value) ||
		       (!gmod_read(l->parameters, offset - l->parameters_at, &value, sizeof(value)) &&
			!gmod_read(l->block_size, offset - (is_new ? 0x360 : 0), &value, sizeof(value)) &&
			!gmod_read(l->grid, offset - (is_new ? 0x370 : 0xc), &value, sizeof(value))));
	return value;
}

static uint32_t read_special(struct reading *r)
{
	enum { LANE = 0, THREAD = 0x21, BLOCK = 0x25 };
	const struct gmod_lane_state *l = r->walk->lane;
	unsigned number = gmod_bits(r->words, 72, 8);

	if (number - THREAD < 3)
		return l->thread[number - THREAD];
	if (number - BLOCK < 3)
		return l->block[number - BLOCK];
	fail_if(r, number != LANE);
	return l->lane;
}

enum slot { A, B, C };

/* A stands at bit 24, B at 32 and C at 64; B and C the other way round in forms 2, 3 and 7. */
static unsigned bit_of(const struct reading *r, enum slot slot)
{
	unsigned form = form_of(r);

	return slot == A ? 24 : (slot == B) != (form == 2 || form == 3 || form == 7) ? 32 : 64;
}

/* The word, or the one above it. In forms 2 and 4 a number stands at bit 32, and in 3 and 5 where in a bank it is. */
static uint32_t read_word(struct reading *r, enum slot slot, unsigned above)
{
	unsigned bit = bit_of(r, slot), form = bit == 32 ? form_of(r) : 0, number = gmod_bits(r->words, bit, 8);

	if (form == 2 || form == 4) {
		fail_if(r, above);
		return gmod_bits(r->words, 32, 32);
	}
	if (form == 3 || form == 5) {
		fail_if(r, gmod_bits(r->words, 54, 5) || gmod_bits(r->words, 91, 1));
		return read_constant(r, gmod_bits(r->words, 38, 16) + above * 4);
	}
	if (!is_uniform(r) && form < 6)
		return number == GMOD_NO_REGISTER ? 0 : read_id(r, number + above);
	return gmod_is_zero_uniform(number, r->walk->code->capability) ? 0 : read_id(r, GMOD_UNIFORM + number + above);
}

static uint32_t read_source(struct reading *r, enum slot slot)
{
	return read_word(r, slot, 0);
}

/* Or inverted, if a carry is added. A number has none of it; many instructions have other bits there. */
static bool is_negated(const struct reading *r, enum slot slot)
{
	unsigned bit = bit_of(r, slot), form = form_of(r);

	return !(bit == 32 && (form == 2 || form == 4)) && gmod_bits(r->words, bit == 24 ? 72 : bit == 32 ? 63 : 75, 1);
}

/* A number that is negated is inverted, and 1 more if no carry comes in: so the sum has the carry that the GPU has. */
static uint64_t read_term(struct reading *r, enum slot slot, bool has_carry)
{
	uint32_t value = read_source(r, slot);

	return is_negated(r, slot) ? (uint64_t)(uint32_t)~value + !has_carry : value;
}

static uint64_t read_wide(struct reading *r, enum slot slot)
{
	uint64_t value = (uint64_t)read_word(r, slot, 1) << 32 | read_source(r, slot);

	return is_negated(r, slot) ? -value : value;
}

/* Three bits name it, and one more inverts it. */
static bool read_predicate(struct reading *r, unsigned bit)
{
	unsigned number = gmod_bits(r->words, bit, 3), file = is_uniform(r) ? GMOD_UNIFORM_PREDICATE : GMOD_PREDICATE;

	return (number == ALWAYS || read_id(r, file + number)) != gmod_bits(r->words, bit + 3, 1);
}

/* ---- what it computes ---- */

/* Two predicates. */
static bool names_two(const struct reading *r)
{
	return gmod_bits(r->words, 81, 3) != ALWAYS && gmod_bits(r->words, 84, 3) != ALWAYS;
}

/* What is above the 32 bits is the carry. */
static uint64_t add(struct reading *r, enum slot last)
{
	bool has_carry = last == C && gmod_bits(r->words, 74, 1);
	uint64_t sum = has_carry ? read_predicate(r, 87) + read_predicate(r, 77) : 0;

	for (enum slot slot = A; slot <= last; slot++)
		sum += read_term(r, slot, has_carry);
	return sum;
}

static uint64_t multiply(struct reading *r)
{
	uint32_t a = read_source(r, A), b = read_source(r, B);

	return gmod_bits(r->words, 73, 1) ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
}

/* A, shifted left, and B. HI: what goes over the 32 bits, with C or A's sign above A. */
static uint64_t shift_and_add(struct reading *r, bool is_x)
{
	bool is_high = gmod_bits(r->words, 80, 1), is_negative = gmod_bits(r->words, 72, 1);
	bool has_sign = gmod_bits(r->words, 73, 1);
	unsigned by = gmod_bits(r->words, 75, 5);
	uint64_t a = read_source(r, A), b = bit_of(r, B) == 64 ? read_source(r, B) : read_term(r, B, is_x);

	if (is_high)
		a = (has_sign ? (uint64_t)(int64_t)(int32_t)a : (uint64_t)read_source(r, C) << 32 | a) << by >> 32;
	else
		a = (is_negative ? -a : a) << by;
	fail_if(r, is_high ? is_negative : is_x || has_sign);
	r->has_carry = !is_high && !is_negative;
	return (uint32_t)a + b + (is_x && read_predicate(r, 87));
}

static uint32_t combine_bits(struct reading *r)
{
	uint32_t a = read_source(r, A), b = read_source(r, B), c = read_source(r, C), value = 0;

	for (unsigned i = 0; i < 8; i++)
		if (gmod_bits(r->words, 72 + i, 1))
			value |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
	return value;
}

/* One word of C and A, the high and the low word, when they are shifted. */
static uint32_t shift(struct reading *r)
{
	bool is_right = gmod_bits(r->words, 76, 1), is_high = gmod_bits(r->words, 80, 1);
	bool has_sign = is_right && is_high && !gmod_bits(r->words, 73, 1);
	uint32_t by = read_source(r, B);
	uint64_t both = is_high && is_right ? 0 : read_source(r, A);

	fail_if(r, by > 31);
	both |= is_high || is_right ? (uint64_t)read_source(r, C) << 32 : 0;
	if (has_sign)
		return (uint32_t)((int64_t)both >> (by & 31) >> 32);
	return (uint32_t)((is_right ? both >> (by & 31) : both << (by & 31)) >> (is_high ? 32 : 0));
}

static bool compare(struct reading *r)
{
	enum { AND, OR, XOR };
	uint32_t a = read_source(r, A), b = read_source(r, B);
	bool has_sign = gmod_bits(r->words, 73, 1), with = read_predicate(r, 87);
	int order = has_sign ? ((int32_t)a > (int32_t)b) - ((int32_t)a < (int32_t)b) : (a > b) - (a < b);
	bool holds = gmod_bits(r->words, 76 + (unsigned)(order + 1), 1);
	unsigned how = gmod_bits(r->words, 74, 2);

	fail_if(r, gmod_bits(r->words, 72, 1) || gmod_bits(r->words, 80, 1) || how > XOR || names_two(r));
	return how == AND ? holds && with : how == OR ? holds || with : holds != with;
}

/* Compilers move constants with a sum of two halves, too: -0 x 0 and what is in the instruction. */
static uint32_t move_halves(struct reading *r)
{
	uint32_t value = read_source(r, C);

	fail_if(r, form_of(r) != 2 || gmod_bits(r->words, 24, 8) != GMOD_NO_REGISTER ||
		       gmod_bits(r->words, 64, 32) != 0x1ff || (value & 0x7c00) == 0x7c00 || value << 1 >> 27 == 0x1f);
	return value;
}

static uint64_t load_constant(struct reading *r, bool has_index, uint32_t offset)
{
	enum { WORD = 4, FOUR = 6 };
	unsigned size = gmod_bits(r->words, 73, 3);

	fail_if(r, (has_index && gmod_bits(r->words, 24, 8) != GMOD_NO_REGISTER) || size < WORD || size > FOUR ||
		       gmod_bits(r->words, 54, 5) || gmod_bits(r->words, 78, 2));
	return read_constant(r, offset) | (size == WORD ? 0 : (uint64_t)read_constant(r, offset + 4) << 32);
}

/* Names are those of the common instructions; those of the uniform datapath have the same opcode, 0x80 further. */
static uint64_t compute(struct reading *r)
{
	unsigned opcode = gmod_bits(r->words, 0, GMOD_OPCODE_BITS);
	bool is_wide = gmod_width_of(r->words) > 1, is_x = gmod_bits(r->words, 74, 1);

	switch (opcode >= FIRST_UNIFORM && opcode <= LAST_UNIFORM ? opcode - FIRST_UNIFORM : opcode) {
	case 0x010: /* IADD3 */
		r->has_carry = true;
		return add(r, C);
	case 0x036: /* VIADD */
		fail_if(r, r->walk->code->capability < GMOD_VIADD_FROM);
		return add(r, B);
	case 0x035: /* IADD, or HFMA2.MMA */
		if (r->walk->code->capability < BLACKWELL)
			return move_halves(r);
		return is_wide ? read_wide(r, A) + read_wide(r, B) : add(r, B);
	case 0x017: /* UIADD3.64 */
		fail_if(r, is_x || !is_uniform(r));
		return read_wide(r, A) + read_wide(r, B) + read_wide(r, C);
	case 0x031: /* HFMA2 */
		return move_halves(r);
	case 0x024: /* IMAD */
		return multiply(r) + read_term(r, C, is_x) + (is_x && read_predicate(r, 87));
	case 0x025: /* IMAD.WIDE */
		fail_if(r, is_x);
		return multiply(r) + read_wide(r, C);
	case 0x027: /* IMAD.HI */
		fail_if(r, is_x);
		return (multiply(r) + read_wide(r, C)) >> 32;
	case 0x011: /* LEA */
		return shift_and_add(r, is_x);
	case 0x012: /* LOP3 */
		return combine_bits(r);
	case 0x019: /* SHF */
		return shift(r);
	case 0x00c: /* ISETP */
		r->has_carry = true;
		return (uint64_t)compare(r) << 32;
	case 0x002: /* MOV */
		fail_if(r, is_wide || (!is_uniform(r) && gmod_bits(r->words, 72, 4) != 15));
		return read_source(r, B);
	case 0x119: /* S2R */
	case 0x1c3: /* S2UR */
		return read_special(r);
	case 0x182: /* LDC */
		return load_constant(r, true, gmod_bits(r->words, 38, 16));
	case 0x039: /* ULDC */
		return load_constant(r, false, gmod_bits(r->words, 38, 16));
	case GMOD_LDCU:
		return load_constant(r, true, gmod_bits(r->words, 37, 17));
	default:
		fail_if(r, true);
		return 0;
	}
}

/* The value that the instruction gives to it. Of a sum's two carries who reads one adds the other, too. */
static bool evaluate(struct reading *r, unsigned id, uint32_t *value)
{
	uint64_t result = compute(r);
	unsigned number = id % GMOD_UNIFORM - gmod_bits(r->words, 16, 8);

	if (id < GMOD_PREDICATE) {
		*value = (uint32_t)(number ? result >> 32 : result);
		return !r->failed && number < 2;
	}
	number = id % 8 != gmod_bits(r->words, 81, 3);
	*value = result >> 32 > number;
	return !r->failed && r->has_carry && (names_two(r) || (!number && result >> 32 < 2));
}

/* Does its guard let it run? */
static bool is_run(struct reading *r)
{
	fail_if(r, is_guarded(r->words) && gmod_is_between(r->words));
	return read_predicate(r, 12);
}

static bool recompute(struct walk *w, unsigned id, uint64_t before, uint32_t *value)
{
	struct reading r = {.walk = w, .at = before - STEP};
	bool straight = false;

	for (; look_at(w, r.at, r.words); r.at -= STEP) {
		if (!gmod_may_write(r.words, w->code->capability, id))
			continue;
		/* Behind a write that a guard has held back each instruction is run once, and has been looked at. */
		if (!is_kept(w, id, straight ? before : r.at + STEP, r.at + STEP, before, straight))
			return false;
		if (is_run(&r) || r.failed)
			return !r.failed && evaluate(&r, id, value);
		straight = true;
	}
	return false;
}

/* What the dump has of it, if it has not changed since: not of what threads share, some of which may have run on. */
static bool read_dumped(struct walk *w, unsigned id, uint64_t at, uint32_t *value)
{
	return id < GMOD_UNIFORM && w->dumped_at &&
	       gmod_read(w->lane->registers, id * sizeof(*value), value, sizeof(*value)) &&
	       is_kept(w, id, at, at + 1, w->dumped_at, false);
}

/* What is computed and is still in a register has to be the same there. */
static bool value_before(struct walk *w, unsigned id, uint64_t at, uint32_t *value)
{
	struct value *v = w->seen, *end = w->seen + w->values;
	uint32_t dumped;

	while (v < end && (v->before != at || v->id != id))
		v++;
	if (v == w->seen + MOST_VALUES)
		return false;
	if (v == end) {
		w->values++;
		*v = (struct value){.before = at, .id = id};
		v->is_known = recompute(w, id, at, &v->value);
		if (read_dumped(w, id, at, &dumped)) {
			w->is_refuted = w->is_refuted || (v->is_known && dumped != v->value);
			v->is_known = true;
			v->value = dumped;
		}
	}
	*value = v->value;
	return v->is_known;
}

/*
 * Are the registers of the dump those that the instruction found, but for what is written on the way? Only if the
 * thread has gone on to its virtual PC, and nobody comes to that from elsewhere. A load's thread waits before it comes
 * to the load again, so behind a load there may be branches, if none goes back to it and the warp has not parted there:
 * what they may leave out counts as written. Behind a store the thread runs on, and its registers may be of a later
 * round.
 */
static bool has_gone_on(struct walk *w, uint64_t pc)
{
	uint64_t words[2], end = w->lane->virtual_pc;
	bool waits, may_branch;

	if (end < pc || end - pc >= FARTHEST || end % STEP != pc % STEP || !look_at(w, end, words) ||
	    !look_at(w, pc, words))
		return false;
	waits = end > pc && gmod_width_of(words) && gmod_bits(words, 16, 8) != GMOD_NO_REGISTER;
	may_branch = waits && !w->lane->have_parted;
	for (uint64_t at = w->code->address; look_at(w, at, words); at += STEP) {
		uint64_t target = gmod_target_of(words, w->code->capability, at);
		enum gmod_flow flow = gmod_flow_of(words);
		bool is_on_the_way = at >= pc && at < end, is_branch = may_branch && flow == GMOD_FLOW_BRANCH;
		bool may_repeat = !waits && target && (at >= pc || flow == GMOD_FLOW_CALL);
		bool is_passed =
		    flow == GMOD_FLOW_ON || (is_branch && target > pc) ||
		    (may_branch && (flow == GMOD_FLOW_MEET || (flow == GMOD_FLOW_LEAVE && is_guarded(words))));

		if (is_on_the_way && !is_passed)
			return false;
		if (target > pc ? target <= end && !(is_on_the_way && is_branch) : may_repeat)
			return false;
	}
	return true;
}

bool gmod_fault_address(const struct gmod_code *code, uint64_t pc, const struct gmod_operand *operand,
			const struct gmod_lane_state *lane, uint64_t *address)
{
	struct walk w = {.code = code, .lane = lane};
	uint32_t low = 0, high = 0;
	uint64_t words[2], sum;

	for (uint64_t at = code->address; look_at(&w, at, words); at += STEP)
		if (gmod_flow_of(words) == GMOD_FLOW_UNKNOWN)
			return false;
	/* At least the instruction itself may have written. */
	if (has_gone_on(&w, pc))
		w.dumped_at = lane->virtual_pc > pc ? lane->virtual_pc : pc + STEP;
	if (operand->base != GMOD_NO_REGISTER && (!value_before(&w, operand->base, pc, &low) ||
						  (operand->wide && !value_before(&w, operand->base + 1, pc, &high))))
		return false;
	if (w.is_refuted || w.looks >= MOST_LOOKS)
		return false;
	sum = ((uint64_t)high << 32 | low) * operand->scale + (uint64_t)(int64_t)operand->offset;
	*address = operand->wide ? sum : (uint32_t)sum;
	return true;
}
