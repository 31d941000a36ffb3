/*
 * The memory operand of a GPU instruction: of the 16 bytes at an address that faulted, what was accessed, and where.
 *
 * NVIDIA documents no encoding. This one is read off from what nvdisasm says of cubins for compute capabilities 7.5 to
 * 12.0; tests/gpu/sass/judge.py has nvdisasm judge it. What is not known for sure is not decoded.
 */
#ifndef GMOD_LIB_FAULTS_SASS_H
#define GMOD_LIB_FAULTS_SASS_H

#include "lib/faults/effect.h"

enum gmod_access { GMOD_ACCESS_LOAD, GMOD_ACCESS_STORE, GMOD_ACCESS_ATOMIC };
enum gmod_space { GMOD_SPACE_GLOBAL, GMOD_SPACE_GENERIC, GMOD_SPACE_SHARED, GMOD_SPACE_LOCAL };

/* The address is the register (the pair that begins there, if it is wide), scaled, and the offset. */
struct gmod_operand {
	enum gmod_access access;
	enum gmod_space space;
	unsigned bytes;
	unsigned base; /* GMOD_NO_REGISTER: the offset alone */
	bool wide;
	unsigned scale; /* 1, 4, 8 or 16 */
	int32_t offset;
};

/*
 * words: the instruction as it lies in memory, little end first. capability: 75 for 7.5 and so on. false: it accesses
 * no memory, or it is not known how: uniform registers, textures, tensors, matrices, and what came later.
 */
bool gmod_sass_operand(const uint64_t words[2], unsigned capability, struct gmod_operand *out);

#endif
