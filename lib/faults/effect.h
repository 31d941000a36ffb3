/*
 * What a GPU instruction changes: the registers and predicates that it may write, and where the thread goes from it.
 * tests/gpu/sass/judge_address.py has nvdisasm judge it. An opcode that is not known may write anything.
 */
#ifndef GMOD_LIB_FAULTS_EFFECT_H
#define GMOD_LIB_FAULTS_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

enum gmod_flow {
	GMOD_FLOW_UNKNOWN,
	GMOD_FLOW_ON,
	GMOD_FLOW_BRANCH, /* may go to its target */
	GMOD_FLOW_MEET,   /* its target is where threads that part now will meet, */
	GMOD_FLOW_MET,    /* to which this goes */
	GMOD_FLOW_CALL,   /* may come back having written anything; the target, if there is one, is in the same code */
	GMOD_FLOW_LEAVE,
};

/* What holds a value, by number: registers, uniform registers, predicates, uniform predicates. */
enum { GMOD_UNIFORM = 256, GMOD_PREDICATE = 512, GMOD_UNIFORM_PREDICATE = 520 };

/* What is common to instructions of an opcode. Others of its bits say how many registers it writes. */
enum {
	GMOD_EFFECT_TWO_PREDICATES = 16,
	GMOD_EFFECT_UNIFORM = 32, /* all that it names is uniform, but for what stands in forms 6 and 7 at bit 32 */
	GMOD_EFFECT_PREDICATES = 64,
	GMOD_EFFECT_KNOWN = 128,
};

enum { GMOD_NO_REGISTER = 255 }; /* RZ, or none */

enum { GMOD_LDCU = 0x1ac };    /* an opcode */
enum { GMOD_VIADD_FROM = 90 }; /* the capability; below, its opcode was a product of matrices' */

enum { GMOD_SASS_STEP = 16, GMOD_OPCODE_BITS = 9 };

/* That many bits, none of which is beyond the word of the first. */
static inline unsigned gmod_bits(const uint64_t words[2], unsigned from, unsigned count)
{
	return (unsigned)(words[from / 64] >> from % 64 & ((UINT64_C(1) << count) - 1));
}

unsigned gmod_effect_of(const uint64_t words[2]);
unsigned gmod_width_of(const uint64_t words[2]);
/* It moves values between the files of registers: its guard, and the predicates that it names, may be of either. */
bool gmod_is_between(const uint64_t words[2]);
bool gmod_may_write(const uint64_t words[2], unsigned capability, unsigned id);
bool gmod_is_zero_uniform(unsigned number, unsigned capability);

enum gmod_flow gmod_flow_of(const uint64_t words[2]);
/* at: of the instruction. 0: none. */
uint64_t gmod_target_of(const uint64_t words[2], unsigned capability, uint64_t at);

#endif
