/* Which contexts the program has met. Nothing here touches a driver. */
#include "lib/context/context.h"

#include "lib/base/phase.h"
#include "tests/unit/support.h"

static CUcontext handle(uintptr_t value)
{
	return (CUcontext)value;
}

static uint64_t only(void)
{
	return atomic_load(&gmod_hot.context);
}

static void setup(void)
{
	atomic_store(&gmod_hot.context, 0);
}

TEST(the_first_one_is_the_only_one)
{
	setup();
	gmod_context_met(handle(0x5000));
	assert_true(only() == 0x5000);
	gmod_context_met(handle(0x5000));
	assert_true(only() == 0x5000);
}

TEST(no_context_is_none)
{
	setup();
	gmod_context_met(NULL);
	assert_true(only() == 0);
	gmod_context_met(handle(0x5000));
	gmod_context_met(NULL);
	assert_true(only() == 0x5000);
}

/* Also when the second one has gone, which nobody tells: its handle may be a third one's. */
TEST(a_second_one_ends_it_for_good)
{
	setup();
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
	uintptr_t mine = *(uintptr_t *)number;

	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&all);
		gmod_context_met(handle(mine));
		pthread_barrier_wait(&all);
		if (mine == 0x1000) {
			taken_for_one += only() != GMOD_SEVERAL;
			setup();
		}
	}
	return NULL;
}

/* Each its own: it is several then, whoever comes first or last. */
TEST(threads_meet_theirs_at_the_same_time)
{
	uintptr_t number[THREADS];
	pthread_t thread[THREADS];

	setup();
	assert_int_equal(pthread_barrier_init(&all, NULL, THREADS), 0);
	for (int i = 0; i < THREADS; i++) {
		number[i] = 0x1000u * (unsigned)(i + 1);
		assert_int_equal(pthread_create(&thread[i], NULL, meet_at_once, &number[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(taken_for_one, 0);
	pthread_barrier_destroy(&all);
}

int main(void)
{
	return run_listed_tests(NULL, NULL);
}
