#include "lib/base/unwind.h"

#include <stdbool.h>
#include <string.h>
#include <unwind.h>

#include "lib/base/object.h"
#include "lib/base/python.h"
#include "lib/base/trail.h"

/* The linker's bounds of this library's own mapping. */
extern const char gmod_image_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char gmod_image_end[] __asm__("_end") __attribute__((visibility("hidden")));

struct walk {
	struct gmod_trail trail;
	struct gmod_stack *stack;
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

static void add(struct gmod_stack *stack, uintptr_t pc)
{
	if (!is_ours(pc))
		stack->pc[stack->depth++] = pc;
}

/*
 * The unwinder is libgcc's, linked in statically: backtrace() would load a library of its own at first use, and call
 * malloc, inside somebody's allocation.
 */
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;
	int interrupted = 0;
	uintptr_t pc = _Unwind_GetIPInfo(context, &interrupted);

	if (!pc || walk->stack->depth >= walk->trail.depth)
		return _URC_END_OF_STACK;
	gmod_trail_note(&walk->trail, _Unwind_GetCFA(context) - sizeof(pc), pc, interrupted);
	add(walk->stack, pc);
	return is_greenlets(pc) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void gmod_unwind(struct gmod_stack *stack, unsigned depth)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct walk walk;

	walk.stack = stack;
	walk.trail.frames = stack->depth = 0;
	if (depth && !gmod_trail_begin(&walk.trail, here, depth < GMOD_STACK_MAX ? depth : GMOD_STACK_MAX)) {
		_Unwind_Backtrace(step, &walk);
		gmod_trail_keep(&walk.trail);
	} else {
		for (unsigned i = 0; i < walk.trail.frames; i++)
			add(stack, walk.trail.frame[i].pc);
	}
	stack->python = gmod_python_here(depth);
}
