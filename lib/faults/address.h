/*
 * The address that an instruction accessed, from what a dump has of its thread.
 *
 * A load that faults has zeroed its destination, and compilers like to load into the register that held the address.
 * What happened later, up to the thread's virtual PC, may have changed registers, too. Such a register is computed
 * again from the straight-line code in front of the instruction, down to parameters, indices of thread and block, and
 * registers that nothing has changed. What is computed on the way and is still in a register has to be the same there.
 */
#ifndef GMOD_LIB_FAULTS_ADDRESS_H
#define GMOD_LIB_FAULTS_ADDRESS_H

#include "lib/faults/bytes.h"
#include "lib/faults/sass.h"

/* A section of code: whole instructions of 16 bytes, of which the first is at that address of the GPU. */
struct gmod_code {
	struct gmod_bytes bytes;
	uint64_t address;
	unsigned capability;
};

/* What is not known has no bytes. */
struct gmod_lane_state {
	uint64_t virtual_pc;
	unsigned lane;                      /* in its warp */
	bool have_parted;                   /* lanes that the driver marked have not all the same virtual PC */
	const uint32_t *thread, *block;     /* three each */
	struct gmod_bytes registers;        /* 4 bytes each, R0 first */
	struct gmod_bytes block_size, grid; /* 4 bytes in each direction */
	struct gmod_bytes parameters;       /* of the kernel, */
	uint64_t parameters_at;             /* which begin there in constant bank 0 */
};

/* false: the address is not certain. pc is that of the instruction, which is inside of the code. */
bool gmod_fault_address(const struct gmod_code *code, uint64_t pc, const struct gmod_operand *operand,
			const struct gmod_lane_state *lane, uint64_t *address);

#endif
