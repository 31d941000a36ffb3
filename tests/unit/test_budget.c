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

/* A round's end and the pause that belongs to it: what the budget wants, at least `interval`. */
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

/* Rounds of 20 us, which 1 ms pays, one after another, until there is a pause; how long they took. */
static uint64_t without_pause(struct thread *t)
{
	uint64_t began = t->wall;

	while (!gmod_budget_pause(&t->budget) && t->wall - began < SECOND) {
		spend(t, 20 * US);
		end_round(t);
	}
	return t->wall - began;
}

TEST(half_a_second_is_saved_at_first)
{
	struct thread t = thread_with(TWO_PERCENT);

	/* 10 ms are saved, and the 10.2 ms of the rounds pay 0.2. */
	assert_in_range(without_pause(&t), 10 * MS, 10300 * US);
	/* A long rest saves no more than that. */
	t.wall += 3600 * SECOND;
	end_round(&t);
	assert_in_range(without_pause(&t), 10 * MS, 10300 * US);
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
		CHECK(t.cpu - before <= allowed(&t, TWO_PERCENT, SECOND / 2) + 9 * costs[i], "cost %lu", costs[i]);
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
			interval = 2 * gmod_budget_ns_for(t.budget.share, gather);

			spend(&t, gather);
			next = t.wall + (interval < 100 * MS ? 100 * MS : interval);
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

/* The host took the CPU away for 0.7 ms: that is no gap of 35 ms. */
TEST(a_round_that_was_interrupted_leaves_no_gap)
{
	struct thread t = thread_with(TWO_PERCENT);

	for (int round = 0; round < 10000; round++) {
		spend(&t, round % 500 == 499 ? 700 * US : 25 * US);
		end_round_and_rest(&t, MS);
	}
	assert_in_range(t.longest, MS, 8 * MS);
	assert_in_range(t.cpu - 3 * MS, allowed(&t, TWO_PERCENT, 0), allowed(&t, TWO_PERCENT, SECOND / 2) + 700 * US);
}

TEST(what_was_put_off_is_charged)
{
	struct thread t = thread_with(TWO_PERCENT);

	spend(&t, 10 * MS);
	end_round(&t);
	assert_int_equal(t.budget.put_off, 10 * MS - 20 * US);
	/* Half of the 2 ms that are paid meanwhile goes there. */
	t.wall += 100 * MS;
	end_round(&t);
	assert_int_equal(t.budget.put_off, 9 * MS - 20 * US);
	/* With rounds that are as dear it is charged sooner. */
	spend(&t, 10 * MS);
	end_round(&t);
	assert_in_range(t.budget.put_off, 17 * MS, 18 * MS);
	t.wall += 2 * SECOND;
	end_round(&t);
	assert_int_equal(t.budget.put_off, 0);
}

TEST(a_free_round_costs_nothing)
{
	struct thread t = thread_with(TWO_PERCENT);

	spend(&t, 500 * MS);
	gmod_budget_round(&t.budget, t.cpu, t.wall, false);
	assert_int_equal(gmod_budget_pause(&t.budget), 0);
	assert_int_equal(t.budget.put_off, 0);
	/* The next one does. */
	spend(&t, 10 * MS);
	end_round(&t);
	assert_int_equal(t.budget.put_off, 10 * MS - 20 * US);
}

TEST(a_share_of_nothing_pays_nothing)
{
	struct thread t = thread_with(0);

	assert_int_equal(gmod_budget_pause(&t.budget), 0);
	for (int i = 0; i < 100; i++) {
		spend(&t, US);
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

/* A machine that was asleep for a week; a thread that took a year, and ages in which time pays for it. */
TEST(long_times_do_no_harm)
{
	struct thread t = thread_with(TWO_PERCENT);

	t.wall += 7 * 24 * 3600 * SECOND;
	end_round(&t);
	assert_int_equal(gmod_budget_pause(&t.budget), 0);
	for (int i = 0; i < 2; i++) {
		spend(&t, 365 * 24 * 3600 * SECOND);
		end_round(&t);
	}
	assert_int_equal(gmod_budget_pause(&t.budget), GMOD_PAUSE_MAX);
	/* A time that pays 2^64 / 100 000 ns and a bit: more than is owed. */
	t = thread_with(100 * GMOD_PERCENT_ONE);
	for (int i = 0; i < 2; i++) {
		t.cpu += 500 * SECOND;
		end_round(&t);
	}
	assert_int_equal(gmod_budget_pause(&t.budget), GMOD_PAUSE_MAX);
	t.wall += UINT64_MAX / (100 * GMOD_PERCENT_ONE) + 1;
	end_round(&t);
	assert_int_equal(gmod_budget_pause(&t.budget), 0);
}
