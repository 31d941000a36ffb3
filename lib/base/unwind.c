#include "lib/base/unwind.h"

#include <stdbool.h>
#include <string.h>
#include <unwind.h>

#include "lib/base/object.h"
#include "lib/base/python.h"

/* The linker's bounds of this library's own mapping. */
extern const char gmod_image_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char gmod_image_end[] __asm__("_end") __attribute__((visibility("hidden")));

struct walk {
	struct gmod_stack *stack;
	unsigned depth;
};

static bool is_ours(uintptr_t pc)
{
	return pc >= (uintptr_t)gmod_image_start && pc < (uintptr_t)gmod_image_end;
}

/*
 * Python's greenlet (gevent, eventlet) runs coroutines on pieces of one stack. Beyond its frames lie those of whoever
 * runs now, and an unwinder that went on would follow what it takes for addresses.
 */
static bool is_greenlets(uintptr_t pc)
{
	struct gmod_object object;

	return gmod_object_at(pc, &object) && strstr(basename(object.path), "greenlet");
}

/*
 * The unwinder is libgcc's, linked in statically: backtrace() would load a library of its own at first use, and call
 * malloc, inside somebody's allocation.
 */
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;
	uintptr_t pc = _Unwind_GetIP(context);

	if (!pc || walk->stack->depth >= walk->depth)
		return _URC_END_OF_STACK;
	if (!is_ours(pc))
		walk->stack->pc[walk->stack->depth++] = pc;
	return is_greenlets(pc) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void gmod_unwind(struct gmod_stack *stack, unsigned depth)
{
	struct walk walk = {stack, depth < GMOD_STACK_MAX ? depth : GMOD_STACK_MAX};

	stack->depth = 0;
	stack->python = gmod_python_here(depth);
	if (walk.depth)
		_Unwind_Backtrace(step, &walk);
}
