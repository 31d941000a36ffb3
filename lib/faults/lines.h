/*
 * The source line of a GPU address, from the line table of an image: DWARF 2 to 4. The assembler of PTX writes version
 * 2 whatever made the PTX, with extended opcodes of NVIDIA's that say which row of the sequence a function was inlined
 * at.
 *
 * Nothing is allocated. Where a function was inlined, the table is read again, once for each level.
 */
#ifndef GMOD_LIB_FAULTS_LINES_H
#define GMOD_LIB_FAULTS_LINES_H

#include "lib/faults/bytes.h"
#include "lib/faults/fault.h"

/*
 * How many lines there are, GMOD_FAULT_INLINED at most: that of pc, then where it was inlined, and so on. `function` is
 * the inlined one that the line is of. lines, strings: .debug_line, .debug_str
 */
unsigned gmod_lines_at(struct gmod_bytes lines, struct gmod_bytes strings, uint64_t pc,
		       struct gmod_fault_line at[GMOD_FAULT_INLINED]);

#endif
