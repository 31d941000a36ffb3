/*
 * Mangled names made readable: the Itanium C++ ABI, as far as names go. The names come from files and from the program,
 * and may be anything. No function allocates, takes a lock or changes errno.
 */
#ifndef GMOD_MONITOR_REPORT_DEMANGLE_H
#define GMOD_MONITOR_REPORT_DEMANGLE_H

#include <stddef.h>

#define GMOD_SHORT_NAME_MAX 512

/*
 * The qualified name in an Itanium-mangled name, without template arguments and parameters: _Z7vec_addPfi is vec_add.
 * Of operators only operator() is read. What numba has mangled reads as in Python: Net.step.<locals>.axpy.
 * A name that is not mangled, or that cannot be read, is copied as it is. `out` always ends within cap > 0 bytes.
 */
void gmod_short_name(const char *mangled, char *out, size_t cap);

/* The last plain identifier in a readable name, which is part of the mangled one as well; NULL: there is none. */
const char *gmod_kernel_substring(const char *readable, size_t *len);

#endif
