/* Which of the loaded files an address lies in. Any thread may ask, also inside a call of the loader's. */
#ifndef GMOD_LIB_BASE_OBJECT_H
#define GMOD_LIB_BASE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

struct gmod_object {
	uintptr_t start, end; /* of its mapping */
	uintptr_t bias;       /* what is added to the addresses that the file has */
	const char *path;     /* the loader's, while the file is loaded; empty for the program itself */
};

/* false: in none, like generated code. */
bool gmod_object_at(uintptr_t pc, struct gmod_object *out);

#endif
