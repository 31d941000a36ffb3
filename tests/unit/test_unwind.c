/*
 * The stack of the calling thread, along paths that come again and ones that differ in places. All of this program is
 * the library's own to the unwinder, which leaves its frames out: those that count are libc's.
 */
#include "lib/base/unwind.h"

#include <pthread.h>
#include <search.h>

#include "tests/unit/support.h"

enum { LEVELS = 6, PATHS = 1 << LEVELS };

static struct gmod_stack seen;
static unsigned path, level;

/* A path is which of two functions of libc's calls back, level by level. */
static void descend(void);

static int step(const void *key, const void *element)
{
	(void)key;
	(void)element;
	descend();
	return 0;
}

static void descend(void)
{
	char element = 0, *leaf[3] = {&element};
	void *tree = leaf;
	size_t one = 1;

	if (level == LEVELS)
		gmod_unwind(&seen, LEVELS + 1);
	else if (path >> level++ & 1)
		NEED(lfind(&element, &element, &one, 1, step));
	else
		NEED(tfind(&element, &tree, step));
}

static bool is_in(uintptr_t pc, uintptr_t function)
{
	return pc > function && pc < function + 256;
}

static void check_path(unsigned taken)
{
	path = taken;
	level = 0;
	descend();
	NEED(seen.depth > LEVELS);
	for (unsigned i = 0; i < LEVELS; i++)
		CHECK(is_in(seen.pc[i], path >> (LEVELS - 1 - i) & 1 ? (uintptr_t)lfind : (uintptr_t)tfind),
		      "path %#x, frame %u", path, i);
}

/* Some come again at once, others after more than are remembered. */
TEST(paths_are_told_apart)
{
	uint64_t seed = 7;

	for (int i = 0; i < 20000; i++) {
		unsigned taken = (unsigned)random_below(&seed, i % 2 ? 4 : PATHS);

		for (int again = 0; again < 3; again++)
			check_path(taken);
	}
}

TEST(as_many_frames_as_wanted)
{
	struct gmod_stack stack, all;

	gmod_unwind(&all, GMOD_STACK_MAX + 5);
	assert_in_range(all.depth, 2, GMOD_STACK_MAX);
	for (int again = 0; again < 3; again++)
		for (unsigned depth = 0; depth <= all.depth; depth++) {
			gmod_unwind(&stack, depth);
			assert_int_equal(stack.depth, depth);
			assert_memory_equal(stack.pc, all.pc, depth * sizeof(*all.pc));
		}
}

/* A frame of another size each time: the places of earlier walks are somewhere in it now, or in what was below. */
static __attribute__((noinline)) void far(size_t room, unsigned taken)
{
	volatile char *p = __builtin_alloca(room);

	p[0] = p[room - 1] = 1;
	check_path(taken);
	p[0] = p[room - 1] = 2;
}

TEST(frames_of_any_size)
{
	for (unsigned i = 0; i < 20000; i++)
		far(i * 37 % 4000 + 16, i / 3 % PATHS);
}

/* The next thread's stack may lie where one was that has ended, and end before that one did. */
static void *walk_often(void *arg)
{
	struct gmod_stack first, stack;

	(void)arg;
	gmod_unwind(&first, GMOD_STACK_MAX);
	for (int i = 0; i < 1000; i++) {
		gmod_unwind(&stack, GMOD_STACK_MAX);
		CHECK(stack.depth == first.depth && !memcmp(stack.pc, first.pc, first.depth * sizeof(*first.pc)),
		      "%u frames", stack.depth);
	}
	return NULL;
}

TEST(threads_have_their_own)
{
	pthread_t threads[8];

	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < SIZE_OF(threads); i++) {
			pthread_attr_t attributes;

			NEED(!pthread_attr_init(&attributes));
			NEED(!pthread_attr_setstacksize(&attributes, (size_t)(1024 - round * 16) << 10));
			NEED(!pthread_create(&threads[i], &attributes, walk_often, NULL));
			NEED(!pthread_attr_destroy(&attributes));
		}
		for (unsigned i = 0; i < SIZE_OF(threads); i++)
			pthread_join(threads[i], NULL);
	}
}
