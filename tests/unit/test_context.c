/* Which contexts the program has met. Nothing here touches a driver. */
#include "lib/context/context.h"

#include "lib/base/phase.h"
#include "lib/context/teardown.h"
#include "tests/unit/support.h"

static CUcontext handle(uintptr_t value)
{
	return (CUcontext)value;
}

static uint64_t only(void)
{
	return atomic_load(&gmod_hot.context);
}

FIXTURE(forget)
{
	atomic_store(&gmod_hot.context, 0);
	return 0;
}

#define MEETING(test) TEST_FIXTURE(test, forget, NULL)

MEETING(the_first_one_is_the_only_one)
{
	gmod_context_met(handle(0x5000));
	assert_true(only() == 0x5000);
	gmod_context_met(handle(0x5000));
	assert_true(only() == 0x5000);
}

MEETING(no_context_is_none)
{
	gmod_context_met(NULL);
	assert_true(only() == 0);
	gmod_context_met(handle(0x5000));
	gmod_context_met(NULL);
	assert_true(only() == 0x5000);
}

/* Also when the second one has gone, which nobody tells: its handle may be a third one's. */
MEETING(a_second_one_ends_it_for_good)
{
	gmod_context_met(handle(0x5000));
	gmod_context_met(handle(0x6000));
	assert_true(only() == GMOD_SEVERAL);
	gmod_context_met(handle(0x5000));
	assert_true(only() == GMOD_SEVERAL);
	gmod_context_met(handle(0x6000));
	assert_true(only() == GMOD_SEVERAL);
}

enum { THREADS = 4, ROUNDS = 5000 };
static pthread_barrier_t all;
static unsigned taken_for_one;

static void *meet_at_once(void *number)
{
	uintptr_t mine = 0x1000 * (1 + (uintptr_t)number);

	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&all);
		gmod_context_met(handle(mine));
		pthread_barrier_wait(&all);
		if (mine == 0x1000) {
			taken_for_one += only() != GMOD_SEVERAL;
			forget(NULL);
		}
	}
	return NULL;
}

/* Each its own: it is several then, whoever comes first or last. */
MEETING(threads_meet_theirs_at_the_same_time)
{
	assert_int_equal(pthread_barrier_init(&all, NULL, THREADS), 0);
	in_threads(THREADS, meet_at_once);
	assert_int_equal(taken_for_one, 0);
	pthread_barrier_destroy(&all);
}

enum { AT_ONCE = 2 };
static pthread_barrier_t before;
static atomic_int inside, most_inside;

/* Both have found it alive when either goes on. */
static void meet_before(struct gmod_context *unused)
{
	static _Thread_local bool met;

	(void)unused;
	if (!met)
		pthread_barrier_wait(&before);
	met = true;
}

static void be_inside(struct gmod_context *unused)
{
	int now = atomic_fetch_add(&inside, 1) + 1;

	(void)unused;
	if (now > atomic_load(&most_inside))
		atomic_store(&most_inside, now);
	usleep(20000);
	atomic_fetch_sub(&inside, 1);
}

static void *tear_down(void *unused)
{
	struct gmod_context *c = gmod_context_teardown_begin(handle(0x7000));

	(void)unused;
	if (c)
		gmod_context_teardown_cancel(c);
	return NULL;
}

TEST(one_teardown_of_a_context_at_a_time)
{
	static const struct gmod_context_listener listener = {
	    .on = {[GMOD_CONTEXT_BEFORE] = meet_before, [GMOD_CONTEXT_BEGIN] = be_inside}};

	atomic_store(&gmod_context_at(0)->handle, handle(0x7000));
	atomic_store(&gmod_context_at(0)->state, GMOD_CONTEXT_ALIVE);
	assert_int_equal(pthread_barrier_init(&before, NULL, AT_ONCE), 0);
	gmod_context_listen(&listener);
	in_threads(AT_ONCE, tear_down);
	assert_int_equal(atomic_load(&most_inside), 1);
	assert_int_equal(gmod_context_at(0)->state, GMOD_CONTEXT_ALIVE);
	pthread_barrier_destroy(&before);
}
