/* What inkernel_unit.cu has for programs that are linked with it. */
#pragma once

#include <cstddef>

#if defined(__CUDACC_RDC__)
__device__ char *unit_allocate(size_t size);
#endif

/* Launch a kernel that flips one byte of p[index], and one that frees p[0] to p[count - 1]; count: a multiple of 32. */
void unit_overflow(char **p, int index, int offset);
void unit_free(char **p, int count);
