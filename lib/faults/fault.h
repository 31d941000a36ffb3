/*
 * A fault of the GPU, as the driver's exception dump describes it (lib/faults/dump.h reads that). Plain values; strings
 * and bytes are borrowed from the dump. What the dump does not say is 0, NULL or false.
 */
#ifndef GMOD_LIB_FAULTS_FAULT_H
#define GMOD_LIB_FAULTS_FAULT_H

#include "lib/faults/bytes.h"
#include "lib/faults/sass.h"

enum gmod_fault_kind {
	GMOD_FAULT_UNKNOWN,
	GMOD_FAULT_ILLEGAL_ADDRESS,
	GMOD_FAULT_MISALIGNED,
	GMOD_FAULT_OUT_OF_RANGE,  /* of shared or local memory */
	GMOD_FAULT_ADDRESS_SPACE, /* the instruction does not work on memory of that kind */
	GMOD_FAULT_INSTRUCTION,   /* an instruction that is none; on some devices shared memory out of range, too */
	GMOD_FAULT_STACK,
	GMOD_FAULT_ASSERTION,
	GMOD_FAULT_TRAP /* or a breakpoint */
};

enum { GMOD_FAULT_INLINED = 4, GMOD_FAULT_LANES = 32 };

struct gmod_fault_line {
	const char *directory, *file; /* directory: NULL, or what stands before a relative file */
	const char *function;         /* that was inlined there, mangled; NULL: not known, or none was */
	uint32_t line;
};

struct gmod_fault_lane {
	uint32_t thread[3]; /* in its block */
	bool has_address;   /* certain */
	uint64_t address;   /* of the first byte that was accessed */
};

struct gmod_fault {
	enum gmod_fault_kind kind;
	unsigned driver_kind; /* CUDBGException_t */
	unsigned places;      /* different pairs of instruction and kind in the dump; this is the first */
	unsigned capability;  /* 90 for 9.0 */

	/* The instruction. Where there is no pc, kernel may be known still. */
	bool has_pc, has_instruction;
	uint64_t pc;
	const char *kernel;   /* mangled; of the grid, or of the code */
	const char *function; /* where the instruction is, if that is not the kernel; mangled */
	uint64_t offset;      /* of the instruction, from the start of function or kernel */
	uint64_t instruction[2];
	bool has_operand;
	struct gmod_operand operand;
	/* The instruction's line first, then where that was inlined, and so on. */
	struct gmod_fault_line at[GMOD_FAULT_INLINED];
	unsigned lines;

	/* The grid, if the dump has it. A store's warp may have left, and its grid too. */
	bool has_grid;
	uint32_t grid[3], block_size[3];
	uint32_t launched_tid; /* by that thread of the process; 0: not known */
	struct gmod_bytes parameters;

	/* The first warp that is at the instruction, and how many are. The driver marks all lanes that were active. */
	unsigned warps;
	uint32_t block[3];
	unsigned lane_count;
	struct gmod_fault_lane lane[GMOD_FAULT_LANES];
};

#endif
