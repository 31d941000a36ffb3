/* Memory of our own, apart from the program's heap. */
#ifndef GMOD_LIB_BASE_MAP_H
#define GMOD_LIB_BASE_MAP_H

#include <stddef.h>
#include <sys/mman.h>

/* Whole pages of zeros, for munmap(); NULL: there is no memory. */
static inline void *gmod_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

#endif
