/* The calling thread's stack, innermost frame first, without malloc. Frames inside libgmod are left out. */
#ifndef GMOD_LIB_BASE_UNWIND_H
#define GMOD_LIB_BASE_UNWIND_H

#include <stdint.h>

#define GMOD_STACK_MAX 32

struct gmod_stack {
	uint32_t depth;
	uint32_t python;              /* the Python frames, as gmod_python_stack() knows them */
	uintptr_t pc[GMOD_STACK_MAX]; /* return addresses, innermost first; behind the depth anything */
};

/* depth: frames wanted, at most GMOD_STACK_MAX; 0 gives an empty stack. */
void gmod_unwind(struct gmod_stack *stack, unsigned depth);

#endif
