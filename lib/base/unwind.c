#include "lib/base/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unwind.h>

#include "lib/base/hash.h"
#include "lib/base/object.h"
#include "lib/base/python.h"

/* The linker's bounds of this library's own mapping. */
extern const char gmod_image_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char gmod_image_end[] __asm__("_end") __attribute__((visibility("hidden")));

enum { SETS = 256, WAYS = 4 };

/*
 * A walk that was made from a frame at some address, and where on the stack it found each return address. The unwinder
 * takes microseconds a frame where its tables are not in the cache, and a program allocates along the same paths over
 * and over: where each of these places still has its return address, the innermost first, the functions are the same,
 * and so are their frames. A frame that differs in size from call to call (alloca) can only be taken for another one
 * where an old return address lies in the right place.
 */
struct walk {
	atomic_flag taken; /* nobody waits for it */
	unsigned depth;    /* frames wanted */
	bool repeats;      /* each return address lies where it can be looked for */
	uintptr_t from;    /* the frame; 0: none yet */
	struct gmod_stack stack;
	const uintptr_t *at[GMOD_STACK_MAX];
};

static struct walk known[SETS][WAYS];
static _Atomic unsigned turn;

/* The place may be anybody's by now, and is only compared. */
__attribute__((no_sanitize("address"), no_sanitize("thread"))) static bool holds(const uintptr_t *at, uintptr_t pc)
{
	return *at == pc;
}

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
	const uintptr_t *at = (const uintptr_t *)_Unwind_GetCFA(context) - 1; /* on x86-64 */

	if (!pc || walk->stack.depth >= walk->depth)
		return _URC_END_OF_STACK;
	if (is_ours(pc))
		return _URC_NO_REASON;
	walk->repeats = walk->repeats && holds(at, pc);
	walk->at[walk->stack.depth] = at;
	walk->stack.pc[walk->stack.depth++] = pc;
	return is_greenlets(pc) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static bool is_there_still(const struct walk *walk)
{
	for (unsigned i = 0; i < walk->stack.depth; i++)
		if (!holds(walk->at[i], walk->stack.pc[i]))
			return false;
	return true;
}

static bool recall(struct walk *set, uintptr_t from, unsigned depth, struct gmod_stack *out)
{
	bool found = false;

	for (struct walk *w = set; w < set + WAYS && !found; w++) {
		/* acquire and release: whoever had it is done with it */
		if (atomic_flag_test_and_set_explicit(&w->taken, memory_order_acquire))
			continue;
		found = w->from == from && w->depth == depth && is_there_still(w);
		if (found)
			*out = w->stack;
		atomic_flag_clear_explicit(&w->taken, memory_order_release);
	}
	return found;
}

static void remember(struct walk *set, const struct walk *walk)
{
	struct walk *w = &set[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % WAYS];

	if (!walk->repeats || atomic_flag_test_and_set_explicit(&w->taken, memory_order_acquire))
		return;
	w->depth = walk->depth;
	w->from = walk->from;
	w->stack = walk->stack;
	memcpy(w->at, walk->at, sizeof(w->at));
	atomic_flag_clear_explicit(&w->taken, memory_order_release);
}

void gmod_unwind(struct gmod_stack *stack, unsigned depth)
{
	uintptr_t from = (uintptr_t)__builtin_frame_address(0);
	struct walk *set = known[gmod_hash(from) / (UINT64_MAX / SETS + 1)];
	struct walk walk = {.depth = depth < GMOD_STACK_MAX ? depth : GMOD_STACK_MAX, .from = from, .repeats = true};

	if (walk.depth && !recall(set, from, walk.depth, &walk.stack)) {
		_Unwind_Backtrace(step, &walk);
		remember(set, &walk);
	}
	*stack = walk.stack;
	stack->python = gmod_python_here(depth);
}
