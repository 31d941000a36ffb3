/*
 * The reader of the driver's exception dumps: an ELF file of the layout that NVIDIA's cudacoredump.h describes. It
 * trusts nothing: a dump may be cut short, damaged, or of a version that nobody has seen.
 *
 * It takes no lock, allocates nothing and writes nothing but *f. A dump of full multiprocessors has 122 MB and some
 * hundred thousand sections; time is linear in their number.
 */
#ifndef GMOD_LIB_FAULTS_DUMP_H
#define GMOD_LIB_FAULTS_DUMP_H

#include "lib/faults/fault.h"

/* NULL: *f has what the dump says, strings in it included. Else what is wrong with the dump, for a person to read. */
const char *gmod_dump_read(const void *dump, size_t size, struct gmod_fault *f);

#endif
