/*
 * The journal of launches (option journal): with which sizes, parameters and buffers each kernel is launched, and the
 * images that the kernels come from, for tools that ask what a kernel could do. gmod(1), JOURNAL, is for its readers.
 *
 *     hook ──► place of the function ──what is new──► queue ──the thread gmod-journal──► files
 *
 * A launch whose bytes are those of the function's latest one is only counted. Else pointers become buffer and offset,
 * and what has been told before, its signature, is counted, too. A function tells 64 signatures, and then 64 launches
 * that have the least or the greatest value so far of a word of 4 bytes. After 1000 launches of a function one in 64 is
 * looked at.
 *
 * Hooks do not wait, allocate by malloc or write: where a second thread launches the same function meanwhile, its
 * launch is only counted.
 */
#ifndef GMOD_MONITOR_LAUNCHES_JOURNAL_H
#define GMOD_MONITOR_LAUNCHES_JOURNAL_H

#include "lib/base/text.h"
#include "lib/base/unwind.h"
#include "monitor/launches/journal_file.h"
#include "monitor/launches/signatures.h"

/*
 * Where option journal names a folder: gmod_hot.journal is 1 from then on.
 * add_stack appends the members "frames" and "python" to an object.
 */
void gmod_journal_start(void (*add_stack)(struct gmod_text *t, const struct gmod_stack *stack));

/* cluster: zeros where none is asked for. capability: 90 for 9.0; 0: not known. */
struct gmod_journal_shape {
	uint32_t grid[3], block[3], cluster[3], shared, is_graph, capability;
};
/* A launch, or a node of a graph. arguments: as the signature has them; s NULL: they are not known. */
void gmod_journal_launch(uint64_t function, const struct gmod_journal_shape *shape, const struct gmod_signature *s,
			 const void *arguments);

/*
 * The program has loaded a module or library, from memory or else from a file; module 0: given PTX to the linker. most:
 * bytes that text has if no zero ends it before.
 */
void gmod_journal_loaded(uint64_t module, const void *image, size_t most, const char *file);

#endif
