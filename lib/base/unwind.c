#include "lib/base/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unwind.h>

#include "lib/base/hash.h"
#include "lib/base/object.h"
#include "lib/base/peek.h"
#include "lib/base/python.h"

/* Where a call leaves its return address next to the caller's frame. */
#if defined(__x86_64__)
#define REPEATS true
#else
#define REPEATS false
#endif

/* The linker's bounds of this library's own mapping. */
extern const char gmod_image_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char gmod_image_end[] __asm__("_end") __attribute__((visibility("hidden")));

enum { SETS = 256, WAYS = 4, OURS = 16, SPAN = 16384 /* bytes */, ROOMS = 8 };

/*
 * A walk that was made from a frame at some address, and where on the stack each frame's return address lies. The
 * unwinder takes microseconds a frame where its tables are not in the cache, and a program allocates along the same
 * paths over and over: where each of these places still has its return address, the innermost first, the functions are
 * the same, and so are their frames. A frame that differs in size from call to call (alloca) can only be taken for
 * another one where an old return address lies in the right place. Not remembered are walks that go far, to another
 * stack, or through a frame that a signal has interrupted.
 */
struct walk {
	atomic_flag taken; /* nobody waits for it */
	bool repeats;
	unsigned depth;  /* frames wanted */
	unsigned frames; /* our own, too */
	uintptr_t from;  /* the frame; 0: none yet */
	struct {
		uintptr_t at; /* bytes from there */
		uintptr_t pc;
	} frame[GMOD_STACK_MAX + OURS];
	struct gmod_stack stack;
};

static struct walk known[SETS][WAYS];
static _Atomic unsigned turn;

/* For a piece of the stack, of which the thread may not have much. */
static struct room {
	atomic_flag taken;
	uintptr_t words[SPAN / sizeof(uintptr_t)];
} rooms[ROOMS];
static atomic_bool blind; /* there is no looking at the stack */

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

/* The place is where x86-64 has it. Of gmod_unwind()'s own call of the unwinder it lies below: that comes later. */
static void note(struct walk *walk, uintptr_t place, uintptr_t pc, bool interrupted)
{
	uintptr_t at = place - walk->from, last = walk->frames ? walk->frame[walk->frames - 1].at : 0;

	if (!walk->frames && place < walk->from)
		return;
	walk->repeats = walk->repeats && !interrupted && at > last && at <= SPAN - sizeof(place) &&
			at % sizeof(place) == 0 && walk->frames < sizeof(walk->frame) / sizeof(*walk->frame);
	if (!walk->repeats)
		return;
	walk->frame[walk->frames].at = at;
	walk->frame[walk->frames++].pc = pc;
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

	if (!pc || walk->stack.depth >= walk->depth)
		return _URC_END_OF_STACK;
	note(walk, _Unwind_GetCFA(context) - sizeof(pc), pc, interrupted);
	if (!is_ours(pc))
		walk->stack.pc[walk->stack.depth++] = pc;
	return is_greenlets(pc) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static struct room *take_room(void)
{
	for (struct room *r = rooms; r < rooms + ROOMS; r++)
		/* acquire: whoever had it is done with it, as with walks below */
		if (!atomic_flag_test_and_set_explicit(&r->taken, memory_order_acquire))
			return r;
	return NULL;
}

static bool is_there_still(const struct walk *walk, struct room *room)
{
	size_t n = walk->frame[walk->frames - 1].at + sizeof(*room->words);
	ssize_t got = gmod_peek(walk->from, room->words, n);

	if (got < 0 && got != -EFAULT)
		atomic_store_explicit(&blind, true, memory_order_relaxed);
	for (unsigned i = 0; i < walk->frames && got == (ssize_t)n; i++)
		if (room->words[walk->frame[i].at / sizeof(*room->words)] != walk->frame[i].pc)
			return false;
	return got == (ssize_t)n;
}

static bool recall(struct walk *set, const struct walk *wanted, struct room *room, struct gmod_stack *out)
{
	bool found = false;

	for (struct walk *w = set; w < set + WAYS && !found; w++) {
		if (atomic_flag_test_and_set_explicit(&w->taken, memory_order_acquire))
			continue;
		found = w->from == wanted->from && w->depth == wanted->depth && is_there_still(w, room);
		if (found)
			*out = w->stack;
		atomic_flag_clear_explicit(&w->taken, memory_order_release);
	}
	return found;
}

static bool recall_in_room(struct walk *set, const struct walk *wanted, struct gmod_stack *out)
{
	struct room *room = atomic_load_explicit(&blind, memory_order_relaxed) ? NULL : take_room();
	bool found = room && recall(set, wanted, room, out);

	if (room)
		atomic_flag_clear_explicit(&room->taken, memory_order_release);
	return found;
}

static void remember(struct walk *set, const struct walk *walk)
{
	struct walk *w = &set[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % WAYS];

	if (!walk->repeats || !walk->frames || atomic_flag_test_and_set_explicit(&w->taken, memory_order_acquire))
		return;
	w->depth = walk->depth;
	w->frames = walk->frames;
	w->from = walk->from;
	memcpy(w->frame, walk->frame, walk->frames * sizeof(*walk->frame));
	w->stack = walk->stack;
	atomic_flag_clear_explicit(&w->taken, memory_order_release);
}

void gmod_unwind(struct gmod_stack *stack, unsigned depth)
{
	struct walk walk = {.depth = depth < GMOD_STACK_MAX ? depth : GMOD_STACK_MAX,
			    .from = (uintptr_t)__builtin_frame_address(0),
			    .repeats = REPEATS};
	struct walk *set = known[gmod_hash(walk.from) / (UINT64_MAX / SETS + 1)];

	if (walk.depth && !recall_in_room(set, &walk, &walk.stack)) {
		_Unwind_Backtrace(step, &walk);
		remember(set, &walk);
	}
	*stack = walk.stack;
	stack->python = gmod_python_here(depth);
}
