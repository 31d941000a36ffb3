/* What the monitor may take of a core: how long its pauses are, and what it has taken after a while. */
#include "monitor/watch/budget.h"

#include "lib/base/options.h"
#include "tests/unit/support.h"

#define US ((uint64_t)1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)

enum { TWO_PERCENT = 2 * GMOD_PERCENT_ONE };

/* A thread that does rounds, by clocks of its own. */
struct thread {
	struct gmod_budget budget;
	uint64_t cpu, wall, began, longest;
};

static struct thread thread_with(unsigned share)
{
	struct thread t = {.cpu = 3 * MS, .wall = 7 * SECOND};

	gmod_budget_open(&t.budget, share, t.cpu, t.wall);
	t.began = t.wall;
	return t;
}

static void spend(struct thread *t, uint64_t ns)
{
	t->cpu += ns;
	t->wall += ns;
}

static void end_round(struct thread *t)
{
	gmod_budget_round(&t->budget, t->cpu, t->wall, true);
}

/* A round with something dear in it, of which so much is charged in the course of that time. */
static void do_dear_round(struct thread *t, uint64_t ns, uint64_t put_off, uint64_t time)
{
	spend(t, ns);
	gmod_budget_put_off(&t->budget, put_off, time);
	end_round(t);
}

/* And the pause that belongs to it: what the budget wants, at least `interval`. */
static void end_round_and_rest(struct thread *t, uint64_t interval)
{
	uint64_t pause;

	end_round(t);
	pause = gmod_budget_pause(&t->budget);
	if (pause < interval)
		pause = interval;
	if (pause > t->longest)
		t->longest = pause;
	t->wall += pause;
}

static uint64_t allowed(const struct thread *t, unsigned share, uint64_t saved_ns)
{
	return (t->wall - t->began + saved_ns) * share / (100 * GMOD_PERCENT_ONE);
}

TEST(half_a_second_is_saved_at_first)
{
	struct thread t = thread_with(TWO_PERCENT);

	spend(&t, 9800 * US);
	end_round(&t);
	assert_int_equal(gmod_budget_pause(&t.budget), 0);
	/* 10.8 of 10 ms, and what the 10.8 ms of the rounds paid. */
	spend(&t, MS);
	end_round(&t);
	assert_in_range(gmod_budget_pause(&t.budget), 29200 * US - MS, 29200 * US + MS);
	/* A long rest saves no more than that. */
	t.wall += 3600 * SECOND;
	end_round(&t);
	spend(&t, 11 * MS);
	end_round(&t);
	assert_in_range(gmod_budget_pause(&t.budget), 38 * MS, 40 * MS);
}

TEST(rounds_keep_to_their_share)
{
	static const uint64_t costs[] = {5 * US, 60 * US, 700 * US, 9 * MS};

	for (size_t i = 0; i < SIZE_OF(costs); i++) {
		struct thread t = thread_with(TWO_PERCENT);
		uint64_t before = t.cpu;

		for (int round = 0; round < 10000; round++) {
			spend(&t, costs[i]);
			end_round_and_rest(&t, MS);
		}
		CHECK(t.cpu - before <= allowed(&t, TWO_PERCENT, SECOND / 2) + costs[i], "cost %lu", costs[i]);
		/* And use it, where they would take more. */
		if (costs[i] * 50 > 2 * MS)
			CHECK(t.cpu - before >= allowed(&t, TWO_PERCENT, 0), "cost %lu", costs[i]);
	}
}

/*
 * As the monitor does: a sweep each ms, and a gather that costs more each 100 ms, or when it has been paid twice. Each
 * other one costs `other`.
 */
static struct thread with_gathers(uint64_t sweep, uint64_t gather, uint64_t other, uint64_t *rounds)
{
	struct thread t = thread_with(TWO_PERCENT);
	uint64_t next = 0;

	for (*rounds = 0; t.wall - t.began < 60 * SECOND; ++*rounds) {
		spend(&t, sweep);
		if (t.wall >= next) {
			uint64_t interval, swap = gather;

			gather = other;
			other = swap;
			interval = 2 * gmod_budget_ns_for(&t.budget, gather);

			if (interval < 100 * MS)
				interval = 100 * MS;
			spend(&t, gather);
			gmod_budget_put_off(&t.budget, gather, interval);
			next = t.wall + interval;
		}
		end_round_and_rest(&t, MS);
	}
	return t;
}

TEST(a_gather_leaves_no_gap)
{
	uint64_t rounds;
	struct thread t = with_gathers(10 * US, 200 * US, 200 * US, &rounds);

	/* All at once it would be 10 ms. */
	assert_in_range(t.longest, MS, MS + 1);
	assert_in_range(t.cpu - 3 * MS, 0, allowed(&t, TWO_PERCENT, SECOND / 2));
	/* Sweeps that take all of the share by themselves have longer pauses, and no long ones. */
	t = with_gathers(20 * US, 200 * US, 200 * US, &rounds);
	assert_in_range(t.longest, MS, 3 * MS);
	assert_in_range(t.cpu - 3 * MS, 0, allowed(&t, TWO_PERCENT, SECOND / 2) + 200 * US);
}

/* All at once there would be four pauses of half a second each time. */
TEST(long_gathers_leave_most_sweeps)
{
	static const uint64_t others[] = {40 * MS, 40 * US};

	for (size_t i = 0; i < SIZE_OF(others); i++) {
		uint64_t rounds;
		struct thread t = with_gathers(20 * US, 40 * MS, others[i], &rounds);

		assert_in_range(t.longest, MS, 10 * MS);
		assert_in_range(rounds, 20000, 60000);
		assert_in_range(t.cpu - 3 * MS, 0, allowed(&t, TWO_PERCENT, SECOND / 2) + 40 * MS);
	}
}

/* What is left of a dear one does not come due in the time of the next, that may be short. */
TEST(each_gather_has_its_own_time)
{
	struct thread t = thread_with(TWO_PERCENT);

	do_dear_round(&t, 40 * MS, 40 * MS, 4 * SECOND);
	do_dear_round(&t, 40 * US, 40 * US, 100 * MS);
	t.wall += 100 * MS;
	end_round(&t);
	assert_in_range(t.budget.put_off, 38 * MS, 39 * MS + 100 * US);
}

TEST(no_more_is_put_off_than_was_taken)
{
	struct thread t = thread_with(TWO_PERCENT);

	do_dear_round(&t, MS, 5 * MS, 100 * MS);
	assert_int_equal(t.budget.put_off, MS);
	/* No time to put it off for: at once. */
	do_dear_round(&t, 20 * MS, 20 * MS, 0);
	assert_in_range(t.budget.put_off, 0, MS);
	assert_in_range(gmod_budget_pause(&t.budget), 450 * MS, 500 * MS);
}

TEST(what_was_put_off_is_charged)
{
	struct thread t = thread_with(TWO_PERCENT);

	do_dear_round(&t, 30 * MS, 20 * MS, 100 * MS);
	/* 10 ms were saved, and 10 are owed; 0.6 were paid meanwhile. */
	assert_int_equal(gmod_budget_pause(&t.budget), 0);
	t.wall += 50 * MS;
	end_round(&t);
	assert_in_range(t.budget.put_off, 10 * MS, 10 * MS + 1);
	t.wall += 51 * MS;
	end_round(&t);
	assert_int_equal(t.budget.put_off, 0);
	/* 30 ms taken, 10 saved, and 131 ms have passed. */
	assert_in_range(t.budget.debt, 17 * MS, 18 * MS);
}

TEST(a_free_round_costs_nothing)
{
	struct thread t = thread_with(TWO_PERCENT);

	spend(&t, 500 * MS);
	gmod_budget_put_off(&t.budget, 400 * MS, 100 * MS);
	gmod_budget_round(&t.budget, t.cpu, t.wall, false);
	assert_int_equal(gmod_budget_pause(&t.budget), 0);
	assert_int_equal(t.budget.put_off, 0);
	/* The next one has nothing to put off. */
	spend(&t, 10 * MS);
	end_round(&t);
	assert_int_equal(t.budget.put_off, 0);
	CHECK(t.budget.debt <= 0 && t.budget.debt > -(int64_t)MS, "%ld", t.budget.debt);
}

TEST(a_share_of_nothing_pays_nothing)
{
	struct thread t = thread_with(0);

	assert_int_equal(gmod_budget_pause(&t.budget), 0);
	for (int i = 0; i < 100; i++) {
		spend(&t, US);
		gmod_budget_put_off(&t.budget, US / 2, gmod_budget_ns_for(&t.budget, US / 2));
		end_round_and_rest(&t, MS);
	}
	assert_int_equal(t.longest, GMOD_PAUSE_MAX);
	assert_int_equal(gmod_budget_pause(&t.budget), GMOD_PAUSE_MAX);
}

TEST(all_of_a_core_is_no_limit)
{
	struct thread t = thread_with(100 * GMOD_PERCENT_ONE);

	for (int i = 0; i < 1000; i++) {
		spend(&t, MS);
		end_round_and_rest(&t, 0);
	}
	assert_int_equal(t.longest, 0);
}

/* A machine that was asleep for a week; a thread that took a year. */
TEST(long_times_do_no_harm)
{
	struct thread t = thread_with(TWO_PERCENT);

	t.wall += 7 * 24 * 3600 * SECOND;
	end_round(&t);
	assert_int_equal(gmod_budget_pause(&t.budget), 0);
	do_dear_round(&t, 365 * 24 * 3600 * SECOND, 364 * 24 * 3600 * SECOND, 100 * MS);
	assert_int_equal(gmod_budget_pause(&t.budget), GMOD_PAUSE_MAX);
	/* A time that pays 2^64 / 100 000 ns and a bit: more than is owed. */
	t = thread_with(100 * GMOD_PERCENT_ONE);
	t.cpu += 500 * SECOND;
	end_round(&t);
	assert_int_equal(gmod_budget_pause(&t.budget), GMOD_PAUSE_MAX);
	t.wall += UINT64_MAX / (100 * GMOD_PERCENT_ONE) + 1;
	end_round(&t);
	assert_int_equal(gmod_budget_pause(&t.budget), 0);
}
