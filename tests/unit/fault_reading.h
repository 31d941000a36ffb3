/*
 * For what reads dumps without lib/faults/address.c: in its place, a function that takes the address to be what the
 * registers have, and reads all that it gets.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "lib/faults/address.h"
#include "lib/faults/dump.h"

static unsigned addresses_asked;
static volatile unsigned sum; /* so that what is read for its own sake is read */

static inline void touch(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum += ((const unsigned char *)bytes)[i];
}

static inline void must_hold(bool condition)
{
	if (!condition)
		abort();
}

bool gmod_fault_address(const struct gmod_code *code, uint64_t pc, const struct gmod_operand *operand,
			const struct gmod_lane_state *lane, uint64_t *address)
{
	uint32_t words[2];

	addresses_asked++;
	must_hold(pc - code->address < code->bytes.size && code->bytes.size % 16 == 0);
	touch(code->bytes.at, code->bytes.size);
	touch(lane->registers.at, lane->registers.size);
	touch(lane->parameters.at, lane->parameters.size);
	if (!gmod_read(lane->registers, 4 * operand->base, words, sizeof(words)))
		return false;
	*address = (words[0] | (uint64_t)words[1] << 32) + (uint64_t)(int64_t)operand->offset;
	return true;
}

/* What the fault says can be read to its end. */
static inline void read_all(const struct gmod_fault *f)
{
	const char *names[2 + 3 * GMOD_FAULT_INLINED] = {f->kernel, f->function};
	unsigned n = 2;

	must_hold(f->lines <= GMOD_FAULT_INLINED && f->lane_count <= GMOD_FAULT_LANES && f->kind <= GMOD_FAULT_TRAP);
	for (unsigned i = 0; i < f->lines; i++) {
		names[n++] = f->at[i].file;
		names[n++] = f->at[i].directory;
		names[n++] = f->at[i].function;
	}
	for (unsigned i = 0; i < n; i++)
		touch(names[i], names[i] ? strlen(names[i]) : 0);
	touch(f->parameters.at, f->parameters.size);
}
